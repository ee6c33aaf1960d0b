package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/server"
)

const (
	authFileFlag = "auth-file"

	// pickedUp goes into the help of every command that edits the auth file.
	pickedUp = `The command ends when a server that runs here has taken the change, within a second. The
file's comments and order are kept, and the edit is atomic: several commands may run at once.`
)

func addAuthFlags(cmd *cobra.Command) {
	cmd.Flags().String(authFileFlag, "", "file with organizations and key hashes (default: what the server's settings say, auth.cfg)")
	addConfigFlag(cmd)
}

// authFile is the file that the server would read: the flag's, else the settings'. With
// the flag no settings are read, so that a fault in them stops no one from revoking a key.
func (a *app) authFile(cmd *cobra.Command) (string, error) {
	if path, err := cmd.Flags().GetString(authFileFlag); err != nil || path != "" {
		return path, err
	}
	settings, err := a.settings(cmd)
	return settings.Auth.File, err
}

// loadAuth reads the file that authFile names, and returns its path too.
func (a *app) loadAuth(cmd *cobra.Command) (*authfile.Document, string, error) {
	path, err := a.authFile(cmd)
	if err != nil {
		return nil, "", err
	}
	doc, err := authfile.Load(path)
	return doc, path, err
}

// findOrg returns the organization that a person means by its UUID or its name.
func findOrg(doc *authfile.Document, text string) (authfile.Organization, error) {
	if id, err := uuid.Parse(text); err == nil {
		if o, ok := doc.Find(id); ok {
			return o, nil
		}
		return authfile.Organization{}, fmt.Errorf("there is no organization %s; `holdfast org list` shows them", id)
	}
	var found []authfile.Organization
	var ids []string
	for _, o := range doc.Organizations() {
		if o.Name == text {
			found, ids = append(found, o), append(ids, o.ID.String())
		}
	}
	switch len(found) {
	case 0:
		return authfile.Organization{}, fmt.Errorf("there is no organization %q; `holdfast org list` shows them", text)
	case 1:
		return found[0], nil
	}
	return authfile.Organization{}, fmt.Errorf("%d organizations are named %q; choose one by its ID: %s", len(found), text, strings.Join(ids, ", "))
}

// called is how a person is told which organization something is about.
func called(o authfile.Organization) string {
	if o.Name == "" {
		return o.ID.String()
	}
	return fmt.Sprintf("%s (%s)", o.Name, o.ID)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// findOrgIn reads the file that authFile names, and finds the organization in it that text means.
func (a *app) findOrgIn(cmd *cobra.Command, text string) (*authfile.Document, authfile.Organization, string, error) {
	doc, path, err := a.loadAuth(cmd)
	if err != nil {
		return nil, authfile.Organization{}, "", err
	}
	org, err := findOrg(doc, text)
	return doc, org, path, err
}

// takingPatience is how long a running server may take to have read a file that was changed: it
// leaves it alone for half a second first.
const takingPatience = 10 * time.Second

func isSameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

// editAuth changes the auth file, and waits until a server that runs on this machine has taken it:
// the next line of a script may need that. What was changed stays so whatever becomes of the wait.
func (a *app) editAuth(cmd *cobra.Command, path string, change func(*authfile.Document) error) error {
	if err := authfile.Edit(cmd.Context(), path, change); err != nil {
		return err
	}
	settings, err := a.settings(cmd)
	if err != nil || !isSameFile(path, settings.Auth.File) {
		return nil // nobody runs with these
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), takingPatience)
	defer cancel()
	if err := authfile.AwaitTaken(ctx, server.ReceiptPath(settings), path); err != nil {
		fmt.Fprintf(a.stderr, "holdfast: %s is changed, and the server that runs has not taken it yet (%v); its log may say why\n", path, err)
	}
	return nil
}

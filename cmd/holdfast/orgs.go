package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/sqlauth"
)

const (
	authFileFlag = "auth-file"

	// pickedUp goes into the help of every command that edits the auth file.
	pickedUp = `The command ends when a server that runs here has taken the change, within a second; with
auth.source = database, when all nodes have that run. The file's comments and order are kept, and
the edit is atomic: several commands may run at once.`
)

func addAuthFlags(cmd *cobra.Command) {
	cmd.Flags().String(authFileFlag, "",
		"file with organizations and key hashes (default: what the server's settings say: auth.cfg, or the database)")
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

// authSource is where a command finds the text of auth.cfg, and waits for who follows it.
type authSource struct {
	authfile.Source
	path   string         // of a file
	shared *sqlauth.Store // nil for a file
}

// authSource is the file that the flag names, else what the server would read: its file, or the
// database.
func (a *app) authSource(cmd *cobra.Command) (authSource, error) {
	path, err := cmd.Flags().GetString(authFileFlag)
	if err != nil {
		return authSource{}, err
	}
	var settings configs.Settings
	if path == "" {
		if settings, err = a.settings(cmd); err != nil {
			return authSource{}, err
		}
		path = settings.Auth.File
	}
	if settings.Auth.Source != configs.AuthDatabase {
		path = absolute(path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return authSource{}, fmt.Errorf("there is no %s: --%s FILE or --%s FILE names that of a server; `holdfast init` makes "+
				"one for a new server: %w", path, authFileFlag, configFlag, err)
		}
		return authSource{Source: authfile.InFile(path), path: path}, nil
	}
	shared, err := a.openAuth(cmd, settings)
	if err != nil {
		return authSource{}, err
	}
	return authSource{Source: authfile.InDatabase(shared, server.AuthDatabaseName(settings), editor()), shared: shared},
		nil
}

// databasePatience is how long a command waits for a database that is not there.
const databasePatience = 10 * time.Second

// openAuth opens the database's auth.cfg until the command ends.
func (a *app) openAuth(cmd *cobra.Command, settings configs.Settings) (*sqlauth.Store, error) {
	shared, err := storage.OpenAuth(cmd.Context(), settings, databasePatience, slog.New(slog.DiscardHandler))
	if err == nil {
		a.closers = append(a.closers, shared.Close)
	}
	return shared, err
}

// editor says who edits the database's auth.cfg: commands have no other name.
func editor() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s process %d", host, os.Getpid())
}

// namedAuth is loadAuth of a command that shows what is in there, and says in which file that is.
func (a *app) namedAuth(cmd *cobra.Command) (*authfile.Document, error) {
	doc, source, err := a.loadAuth(cmd)
	if err == nil && source.path != "" {
		a.nameFiles(cmd, source.path)
	}
	return doc, err
}

// loadAuth reads what authSource finds, and returns where that is too.
func (a *app) loadAuth(cmd *cobra.Command) (*authfile.Document, authSource, error) {
	source, err := a.authSource(cmd)
	if err != nil {
		return nil, source, err
	}
	doc, err := source.Load(cmd.Context())
	return doc, source, err
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
	return authfile.Organization{},
		fmt.Errorf("%d organizations are named %q; choose one by its ID: %s", len(found), text, strings.Join(ids, ", "))
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

// findOrgIn reads what authSource finds, and finds the organization in it that text means.
func (a *app) findOrgIn(cmd *cobra.Command,
	text string) (*authfile.Document, authfile.Organization, authSource, error) {
	doc, source, err := a.loadAuth(cmd)
	if err != nil {
		return nil, authfile.Organization{}, source, err
	}
	org, err := findOrg(doc, text)
	return doc, org, source, err
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

// editAuth changes auth.cfg, and waits until a server that runs on this machine has taken it, or all
// nodes that follow the database have:
// the next line of a script may need that. What was changed stays so whatever becomes of the wait.
func (a *app) editAuth(cmd *cobra.Command, source authSource, change func(*authfile.Document) error) error {
	if err := source.Edit(cmd.Context(), change); err != nil {
		return err
	}
	if source.shared != nil {
		a.awaitNodes(cmd.Context(), source.shared)
		return nil
	}
	path := source.path
	settings, err := a.settings(cmd)
	if err != nil || !isSameFile(path, settings.Auth.File) {
		return nil // nobody runs with these
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), takingPatience)
	defer cancel()
	if err := authfile.AwaitTaken(ctx, server.ReceiptPath(settings), path); err != nil {
		fmt.Fprintf(a.stderr, "holdfast: %s is changed, and the server that runs has not taken it yet (%v); its log "+
			"may say why\n", path, err)
	}
	return nil
}

// awaitNodes waits until all nodes that run have the newest auth.cfg of the database.
func (a *app) awaitNodes(ctx context.Context, shared *sqlauth.Store) {
	ctx, cancel := context.WithTimeout(ctx, takingPatience)
	defer cancel()
	revision, _, err := shared.Tip(ctx)
	var late, silent []string
	if err == nil {
		late, silent, err = copies.Await(ctx, shared, revision)
	}
	if len(silent) > 0 {
		fmt.Fprintf(a.stderr, "holdfast: auth.cfg is changed; %s was not heard of for a while and never said that it stops: "+
			"if it runs, cut off from the database, it lets nobody in until it can ask for news\n", strings.Join(silent, ", "))
	}
	if err != nil {
		waited := "some nodes"
		if len(late) > 0 {
			waited = strings.Join(late, ", ")
		}
		fmt.Fprintf(a.stderr, "holdfast: auth.cfg is changed, and %s may not have taken it yet (%v); their /readyz and log "+
			"may say why\n", waited, err)
	}
}

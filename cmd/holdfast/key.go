package main

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
)

func newKeyCommand(a *app) *cobra.Command {
	cmd := newGroup("key", "Add, list and revoke keys")
	cmd.AddCommand(newKeyAddCommand(a), newKeyListCommand(a), newKeyRevokeCommand(a))
	return cmd
}

func newKeyAddCommand(a *app) *cobra.Command {
	var label string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add ORG",
		Short: "Make a key and print it, once",
		Long: `Make a random key for an organization, named by its ID or its name, and print it. The
auth file gets its bcrypt hash only, with the date and the label as a comment: the key
can't be shown again.

` + pickedUp,
		Example: `  holdfast key add Acme --label laptop
  export TF_HTTP_PASSWORD=$(holdfast key add Acme)`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.addKey(cmd, args[0], label, asJSON) },
	}
	cmd.Flags().StringVar(&label, "label", "", "what the key is for")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addAuthFlags(cmd)
	return cmd
}

// newKey is a key as it is shown when it is made.
type newKey struct {
	Organization uuid.UUID `json:"organization"`
	Name         string    `json:"name"`
	KeyID        string    `json:"key_id"`
	Key          string    `json:"key"`
}

func (a *app) addKey(cmd *cobra.Command, text, label string, asJSON bool) error {
	doc, path, err := a.loadAuth(cmd)
	if err != nil {
		return err
	}
	org, err := findOrg(doc, text)
	if err != nil {
		return err
	}
	made := newKey{Organization: org.ID, Name: org.Name, Key: auth.NewKey(org.ID)}
	hash, err := auth.HashKey(made.Key) // before the edit: it is slow, and the edit locks
	if err != nil {
		return err
	}
	err = auth.Edit(cmd.Context(), path, func(d *auth.Document) error {
		stored, err := d.AddKey(org.ID, hash, a.dated(label))
		made.KeyID = stored.ID
		return err
	})
	if err != nil {
		return err
	}
	if err := a.showKey(made, asJSON); err != nil {
		return fmt.Errorf("the key was added but could not be shown: %w; `holdfast key revoke %s %s` takes it away", err, org.ID, made.KeyID)
	}
	fmt.Fprintf(a.stderr, "Added key %s of %s to %s. It is shown only now.\n", made.KeyID, called(org), path)
	return nil
}

// showKey prints nothing but the key, so that a shell can take it.
func (a *app) showKey(made newKey, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, made)
	}
	_, err := fmt.Fprintln(a.stdout, made.Key)
	return err
}

// dated is a key's comment in the auth file.
func (a *app) dated(label string) string {
	date := a.now().Format("2006-01-02")
	if label == "" {
		return date
	}
	return date + " " + label
}

package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
)

func newKeyRevokeCommand(a *app) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke ORG KEY-ID|NAME",
		Short: "Take a key away",
		Long: `Remove a key's hash from the auth file, and the section of a key that has one, with the
comments right above and below it. Asks first on a terminal; elsewhere it needs --yes.
` + "`holdfast key list`" + ` shows the IDs and names.

` + pickedUp + `
From then on the key is refused.`,
		Example: `  holdfast key revoke Acme 3f9a0c62d1e7
  holdfast key revoke Acme ci --yes --json
  holdfast key revoke 11111111-2222-3333-4444-555555555555 3f9a0c62d1e7 --yes`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.revokeKey(cmd, args[0], args[1], yes, asJSON)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addAuthFlags(cmd)
	return cmd
}

// revoked is a key that was taken away, as JSON shows it.
type revoked struct {
	Organization uuid.UUID `json:"organization"`
	Name         string    `json:"name"`
	KeyID        string    `json:"key_id"`
	KeyName      string    `json:"key_name,omitempty"`
	KeysLeft     int       `json:"keys_left"`
}

func (a *app) revokeKey(cmd *cobra.Command, text, which string, yes, asJSON bool) error {
	doc, org, source, err := a.findOrgIn(cmd, text)
	if err != nil {
		return err
	}
	key, err := doc.Key(org.ID, which)
	if err != nil {
		return a.noSuchKey(org, which)
	}
	if !yes {
		if err := a.confirmRevoke(cmd.Context(), org, key); err != nil {
			return err
		}
	}
	var left int
	err = a.editAuth(cmd, source, func(d *authfile.Document) (err error) {
		// By ID: under this name there may be another key by now.
		left, err = d.RevokeKey(org.ID, key.ID)
		return err
	})
	if err != nil {
		return err
	}
	if left == 0 {
		fmt.Fprintf(a.stderr, "Warning: %s has no key left; nobody can sign in for it with one.\n", called(org))
	}
	if asJSON {
		return printJSON(a.stdout, revoked{org.ID, org.Name, key.ID, key.Name, left})
	}
	_, err = fmt.Fprintf(a.stdout, "Revoked key %s of %s.\n", keyCalled(key), called(org))
	return err
}

func (a *app) confirmRevoke(ctx context.Context, org authfile.Organization, key keyring.StoredKey) error {
	question := fmt.Sprintf("Revoke key %s of %s%s?", keyCalled(key), called(org), labelled(key))
	if len(org.Keys) == 1 {
		question = "This is the organization's last key.\n" + question
	}
	return a.confirm(ctx, false, question)
}

func labelled(k keyring.StoredKey) string {
	if k.Label == "" {
		return ""
	}
	return ", labelled " + k.Label
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
)

func newKeyRevokeCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "revoke ORG KEY-ID",
		Short: "Take a key away",
		Long: `Remove a key's hash from the auth file. Asks first on a terminal; elsewhere it needs
--yes. ` + "`holdfast key list`" + ` shows the IDs.

` + pickedUp + `
From then on the key is refused.`,
		Example: `  holdfast key revoke Acme 3f9a0c62d1e7
  holdfast key revoke 11111111-2222-3333-4444-555555555555 3f9a0c62d1e7 --yes`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.revokeKey(cmd, args[0], strings.ToLower(args[1]), yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "don't ask")
	addAuthFlags(cmd)
	return cmd
}

func (a *app) revokeKey(cmd *cobra.Command, text, id string, yes bool) error {
	doc, path, err := a.loadAuth(cmd)
	if err != nil {
		return err
	}
	org, err := findOrg(doc, text)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(org.Keys, func(k auth.StoredKey) bool { return k.ID == id })
	if i < 0 {
		return fmt.Errorf("%s has no key %q; `holdfast key list %s` shows them", called(org), id, org.ID)
	}
	if !yes {
		if err := a.confirmRevoke(cmd.Context(), org, org.Keys[i]); err != nil {
			return err
		}
	}
	var left int
	err = auth.Edit(cmd.Context(), path, func(d *auth.Document) (err error) {
		left, err = d.RevokeKey(org.ID, id)
		return err
	})
	if err != nil {
		return err
	}
	if left == 0 {
		fmt.Fprintf(a.stderr, "Warning: %s has no key left; nobody can sign in for it.\n", called(org))
	}
	_, err = fmt.Fprintf(a.stdout, "Revoked key %s of %s.\n", id, called(org))
	return err
}

func (a *app) confirmRevoke(ctx context.Context, org auth.Organization, key auth.StoredKey) error {
	if !a.interactive {
		return usagef("stdin is no terminal to ask on: confirm with --yes")
	}
	if len(org.Keys) == 1 {
		fmt.Fprintln(a.stderr, "This is the organization's last key.")
	}
	fmt.Fprintf(a.stderr, "Revoke key %s (%s) of %s? Type yes: ", key.ID, key.Label, called(org))
	answer, err := a.readLine(ctx)
	if err != nil {
		return err
	}
	if answer != "yes" {
		return errors.New("nothing was revoked")
	}
	return nil
}

// readLine reads one line of stdin. It gives up when ctx ends: a signal doesn't interrupt
// the read itself.
func (a *app) readLine(ctx context.Context) (string, error) {
	if a.typed == nil {
		a.typed = bufio.NewReader(a.stdin)
	}
	lines := make(chan string, 1)
	go func() {
		text, _ := a.typed.ReadString('\n') // what was read of a last line counts
		lines <- strings.TrimSpace(text)
	}()
	select {
	case text := <-lines:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

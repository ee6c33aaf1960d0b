package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
)

func newOrgRenameCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rename ORG NAME",
		Short:   "Give an organization another name",
		Long:    "Give an organization another name. Its ID, its keys and its data stay as they are.\n\n" + pickedUp,
		Example: `  holdfast org rename Acme "Acme Corporation"`,
		Args:    cobra.ExactArgs(2),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.renameOrg(cmd, args[0], args[1]) },
	}
	addAuthFlags(cmd)
	return cmd
}

func (a *app) renameOrg(cmd *cobra.Command, text, name string) error {
	_, org, path, err := a.findOrgIn(cmd, text)
	if err != nil {
		return err
	}
	err = a.editAuth(cmd, path, func(d *authfile.Document) error { return d.RenameOrganization(org.ID, name) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s is called %s now.\n", called(org), name)
	return nil
}

func newOrgRemoveCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "remove ORG",
		Short: "Take an organization out of the auth file",
		Long: `Take an organization out of the auth file, with its keys, its rules for tokens and
certificates, and its settings: nobody gets in for it any more. Its data stays where it is, and is
there again when the organization is added again with --id.

On a terminal its name must be typed; elsewhere it needs --yes.

` + pickedUp,
		Example: `  holdfast org remove Acme
  holdfast org add "Acme" --id 11111111-2222-3333-4444-555555555555   # and back`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.removeOrg(cmd, args[0], yes) },
	}
	addYesFlag(cmd, &yes)
	addAuthFlags(cmd)
	return cmd
}

func (a *app) removeOrg(cmd *cobra.Command, text string, yes bool) error {
	_, org, path, err := a.findOrgIn(cmd, text)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Nobody will get in for %s any more.", called(org))
	if err := a.confirmWith(cmd.Context(), yes, question, cmp.Or(org.Name, org.ID.String())); err != nil {
		return err
	}
	err = a.editAuth(cmd, path, func(d *authfile.Document) error { return d.RemoveOrganization(org.ID) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "Removed %s from %s, with %s. Its data is kept; `holdfast org add NAME --id %s` lets it in again.\n",
		called(org), path, counted(int64(len(org.Keys)), "key"), org.ID)
	return nil
}

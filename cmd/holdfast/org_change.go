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
	_, org, source, err := a.findOrgIn(cmd, text)
	if err != nil {
		return err
	}
	err = a.editAuth(cmd, source, func(d *authfile.Document) error { return d.RenameOrganization(org.ID, name) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s is called %s now.\n", called(org), name)
	return nil
}

func newOrgRemoveCommand(a *app) *cobra.Command {
	var r orgRemoval
	cmd := &cobra.Command{
		Use:   "remove ORG",
		Short: "Take an organization out of the auth file, and destroy its data if asked to",
		Long: `Take an organization out of the auth file, with its keys, its rules for tokens and
certificates, and its settings: nobody gets in for it any more. Its data stays where it is, and is
there again when the organization is added again with --id.

With --shred all of its data is destroyed: states with their versions, uploads, workspaces, runs, its
part of the audit log. The server does that from now on, or from its next start on, and its log says
when it is done; so does "holdfast org list". The master keys forget it: what is encrypted of it in a backup
opens with copies of the master key file from before alone, which "holdfast seal forget" has forget it too.
Uploads in backups, and copies that the file system or the disk keep, are not reached.

On a terminal its name must be typed; elsewhere it needs --yes, and with --shred --name too.

` + pickedUp,
		Example: `  holdfast org remove Acme
  holdfast org add "Acme" --id 11111111-2222-3333-4444-555555555555   # and back
  holdfast org remove Acme --shred
  holdfast org remove Acme --shred --yes --name Acme`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.removeOrg(cmd, args[0], r) },
	}
	addYesFlag(cmd, &r.yes)
	cmd.Flags().BoolVar(&r.shred, "shred", false, "destroy all of its data")
	cmd.Flags().StringVar(&r.name, "name", "", "the organization's name once more, for --shred with --yes")
	addAuthFlags(cmd)
	return cmd
}

// orgRemoval says how an organization is removed.
type orgRemoval struct {
	yes, shred bool
	name       string
}

func (a *app) removeOrg(cmd *cobra.Command, text string, r orgRemoval) error {
	if r.name != "" && !r.shred {
		return usagef("--name goes with --shred")
	}
	doc, source, err := a.loadAuth(cmd)
	if err != nil {
		return err
	}
	org, err := findOrg(doc, text)
	if err != nil {
		if s, ok := shreddingOf(doc, text); ok {
			return a.forgetShredding(cmd, source, s)
		}
		return err
	}
	if r.shred {
		return a.shredOrg(cmd, source, org, r)
	}
	question := fmt.Sprintf("Nobody will get in for %s any more.", called(org))
	if err := a.confirmWith(cmd.Context(), r.yes, question, cmp.Or(org.Name, org.ID.String())); err != nil {
		return err
	}
	err = a.editAuth(cmd, source, func(d *authfile.Document) error { return d.RemoveOrganization(org.ID) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "Removed %s from %s, with %s. Its data is kept; `holdfast org add NAME --id %s` lets it "+
		"in again.\n",
		called(org), source, counted(int64(len(org.Keys)), "key"), org.ID)
	return nil
}

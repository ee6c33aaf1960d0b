package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/shred"
	"github.com/holdfast/holdfast/server"
)

// shredOrg says in the auth file that all of an organization's data is to be destroyed. The folder of
// data is the running server's: it does the rest.
func (a *app) shredOrg(cmd *cobra.Command, source authSource, org authfile.Organization, r orgRemoval) error {
	word := cmp.Or(org.Name, org.ID.String())
	switch {
	case r.yes && r.name == "":
		return usagef("to destroy its data unasked takes its name too: --yes --name %q", word)
	case r.name != "" && r.name != word:
		return fmt.Errorf("--name is not the name of %s; nothing was done", called(org))
	}
	question := fmt.Sprintf("All of %s is destroyed, for good: %s, all states with their versions and locks, uploads%s, "+
		"workspaces with\n"+
		"variables and configurations, runs with their logs and plans, pools of agents, and its part of the audit log.\n"+
		"Where the master keys can forget it, backups open for it with older copies of their file only, and have its uploads.",
		called(org), counted(int64(len(org.Keys)), "key"), a.sizeOfUploads(cmd, org.ID))
	if err := a.confirmWith(cmd.Context(), r.yes, question, word); err != nil {
		return err
	}
	at := a.now()
	err := a.editAuth(cmd, source, func(d *authfile.Document) error { return d.ShredOrganization(org.ID, at) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "Removed %s from %s: nobody gets in for it any more. The server destroys its data now, or "+
		"when it starts\n"+
		"next; its log says when that is done, and so does `holdfast org list`. Copies of the master key file still open what\n"+
		"backups have of it: `holdfast seal forget %s --master-key-file COPY` ends that. Its uploads in backups are yours to\n"+
		"destroy.\n",
		called(org), source, org.ID)
	return nil
}

func newOrgShredCommand(a *app) *cobra.Command {
	r := orgRemoval{shred: true}
	cmd := &cobra.Command{
		Use:   "shred ORG",
		Short: "Remove an organization and destroy all of its data",
		Long: `Remove an organization from the auth file, and have the server destroy all of its data: the same as
holdfast org remove ORG --shred. On a terminal its name must be typed; elsewhere it needs --yes and --name NAME.`,
		Example: `  holdfast org shred Acme
  holdfast org shred Acme --yes --name Acme`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.removeOrg(cmd, args[0], r) },
	}
	addYesFlag(cmd, &r.yes)
	cmd.Flags().StringVar(&r.name, "name", "", "the organization's name once more, for --yes")
	addAuthFlags(cmd)
	return cmd
}

// sizeOfUploads tells how large the organization's file of uploads is, where there is one.
func (a *app) sizeOfUploads(cmd *cobra.Command, org uuid.UUID) string {
	settings, err := a.settings(cmd)
	if err != nil {
		return ""
	}
	info, err := os.Stat(filepath.Join(settings.Storage.Path, org.String()+".csv"))
	if err != nil {
		return ""
	}
	return " (" + humanize.IBytes(uint64(info.Size())) + " of CSV)"
}

// shreddingOf returns the organization that was removed with its data and that a person means by its
// UUID or its name.
func shreddingOf(doc *authfile.Document, text string) (authfile.Shredding, bool) {
	if id, err := uuid.Parse(text); err == nil {
		return doc.Shredding(id)
	}
	for _, s := range doc.Shreddings() {
		if s.Name == text {
			return s, true
		}
	}
	return authfile.Shredding{}, false
}

// isShredded reports whether a server with the command's settings has destroyed all that there was.
// One that keeps nothing has nothing of anybody when it starts.
func (a *app) isShredded(cmd *cobra.Command, s authfile.Shredding) (bool, error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return false, fmt.Errorf("where the server keeps its data has to be known: %w", err)
	}
	if settings.Auth.Source == configs.AuthDatabase {
		return a.isShreddedEverywhere(cmd, settings, s)
	}
	if settings.State.Storage == configs.Memory && settings.Storage.Type == configs.Memory {
		return false, nil
	}
	return server.ShredReceipts(settings).Has(shred.Order{Org: s.ID, Name: s.Name, At: s.At})
}

// isShreddedEverywhere asks the nodes: while one of them still destroys what is in a database that
// others share, nothing else may have the ID.
func (a *app) isShreddedEverywhere(cmd *cobra.Command, settings configs.Settings, s authfile.Shredding) (bool, error) {
	shared, err := a.openAuth(cmd, settings)
	if err != nil {
		return false, err
	}
	all, err := shared.Copies(cmd.Context())
	return copies.Shredded(all, copies.Order(s.ID, s.At)), err
}

// dropShredding takes out what says that an organization was removed with its data, once that is gone.
func (a *app) dropShredding(cmd *cobra.Command, d *authfile.Document, s authfile.Shredding) error {
	done, err := a.isShredded(cmd, s)
	if err != nil {
		return err
	}
	if !done {
		return fmt.Errorf("the data of %s is being destroyed: until the server has done that nothing else can have its ID; "+
			"`holdfast org list` shows it", s.ID)
	}
	return d.ForgetShredding(s.ID)
}

// forgetShredding is `org remove` of an organization that was removed with its data before.
func (a *app) forgetShredding(cmd *cobra.Command, source authSource, s authfile.Shredding) error {
	err := a.editAuth(cmd, source, func(d *authfile.Document) error { return a.dropShredding(cmd, d, s) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "All data of %s was destroyed; %s does not name it any more.\n", s.ID, source)
	return nil
}

// shreddedRows are the organizations that were removed with their data.
func (a *app) shreddedRows(cmd *cobra.Command, doc *authfile.Document) (rows []orgRow) {
	for _, s := range doc.Shreddings() {
		row := orgRow{ID: s.ID, Name: s.Name, Shredded: "being shredded"}
		if done, err := a.isShredded(cmd, s); err == nil && done {
			row.Shredded = "shredded"
		}
		rows = append(rows, row)
	}
	return rows
}

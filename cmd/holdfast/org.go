package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth/authfile"
)

func newOrgCommand(a *app) *cobra.Command {
	cmd := newGroup("org", "Add, list, rename and remove organizations, and say what others call them")
	cmd.AddCommand(newOrgAddCommand(a), newOrgListCommand(a), newOrgRenameCommand(a), newOrgAliasCommand(a),
		newOrgRemoveCommand(a), newOrgShredCommand(a))
	return cmd
}

func newOrgAddCommand(a *app) *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add an organization and print its ID",
		Long:  "Add an organization to the auth file and print its ID. It has no key yet.\n\n" + pickedUp,
		Example: `  holdfast org add "Acme"
  holdfast org add "Acme" --id 11111111-2222-3333-4444-555555555555
  org=$(holdfast org add "Acme") && holdfast key add "$org"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.addOrg(cmd, args[0], id) },
	}
	cmd.Flags().StringVar(&id, "id", "", "the organization's UUID (default: a random one)")
	addAuthFlags(cmd)
	return cmd
}

func (a *app) addOrg(cmd *cobra.Command, name, id string) error {
	org := uuid.New()
	if id != "" {
		var err error
		if org, err = uuid.Parse(id); err != nil {
			return usagef("--id: %w", err)
		}
	}
	source, err := a.authSource(cmd)
	if err != nil {
		return err
	}
	err = a.editAuth(cmd, source, func(d *authfile.Document) error {
		if s, ok := d.Shredding(org); ok { // there is room for it once all that it had is gone
			if err := a.dropShredding(cmd, d, s); err != nil {
				return err
			}
		}
		return d.AddOrganization(org, name)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "Added %s to %s. It has no key yet: `holdfast key add %s` makes one.\n", name, source, org)
	_, err = fmt.Fprintln(a.stdout, org)
	return err
}

func newOrgListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the organizations",
		Long: `List the organizations of the auth file: ID, name, and how many keys each has. Behind them are
those that were removed with their data.`,
		Example: "  holdfast org list\n  holdfast org list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := a.namedAuth(cmd)
			if err != nil {
				return err
			}
			rows := append(orgRows(doc), a.shreddedRows(cmd, doc)...)
			if asJSON {
				return printJSON(a.stdout, rows)
			}
			return a.printOrgs(rows)
		},
	}
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	addAuthFlags(cmd)
	return cmd
}

// orgRow is one organization as lists show it.
type orgRow struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Keys int       `json:"keys"`
	// Shredded says how far the data of one that was removed with it is destroyed.
	Shredded string `json:"shredded,omitempty"`
}

func orgRows(doc *authfile.Document) []orgRow {
	rows := []orgRow{} // prints as [], never null
	for _, o := range doc.Organizations() {
		rows = append(rows, orgRow{ID: o.ID, Name: o.Name, Keys: len(o.Keys)})
	}
	return rows
}

func (a *app) printOrgs(rows []orgRow) error {
	t := a.newTable(head{"ID", firm}, head{"KEYS", firm}, head{"NAME", always})
	for _, r := range rows {
		keys, name := strconv.Itoa(r.Keys), r.Name
		if r.Shredded != "" {
			keys, name = "-", strings.TrimSpace(name+" ("+r.Shredded+")")
		}
		t.add(r.ID.String(), keys, name)
	}
	return t.show()
}

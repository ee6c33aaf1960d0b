package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/auth"
)

func newKeyListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [ORG]",
		Short: "List keys",
		Long: `List the keys of one organization, or of all: ID, bcrypt cost, and the comment on the
key's line. Neither keys nor hashes are shown. The server's log names keys by these IDs.`,
		Example: "  holdfast key list\n  holdfast key list Acme --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := a.listKeys(cmd, args)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, rows)
			}
			return printKeys(a.stdout, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addAuthFlags(cmd)
	return cmd
}

// keyRow is one key as lists show it.
type keyRow struct {
	Organization uuid.UUID `json:"organization"`
	Name         string    `json:"name"`
	KeyID        string    `json:"key_id"`
	Cost         int       `json:"cost"`
	Label        string    `json:"label"`
}

func (a *app) listKeys(cmd *cobra.Command, args []string) ([]keyRow, error) {
	doc, _, err := a.loadAuth(cmd)
	if err != nil {
		return nil, err
	}
	orgs := doc.Organizations()
	if len(args) > 0 {
		o, err := findOrg(doc, args[0])
		if err != nil {
			return nil, err
		}
		orgs = []auth.Organization{o}
	}
	rows := []keyRow{} // prints as [], never null
	for _, o := range orgs {
		for _, k := range o.Keys {
			rows = append(rows, keyRow{o.ID, o.Name, k.ID, k.Cost, k.Label})
		}
	}
	return rows, nil
}

func printKeys(out io.Writer, rows []keyRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ORGANIZATION\tNAME\tKEY\tCOST\tLABEL")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", r.Organization, r.Name, r.KeyID, r.Cost, r.Label)
	}
	return w.Flush()
}

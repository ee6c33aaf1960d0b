package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/holdfast/holdfast/internal/printable"
)

// shownDigest is how much of a digest people get to see; --json has all of it.
const shownDigest = 16

// showMigration prints what became of each organization.
func (a *app) showMigration(m *migration, flags migrateFlags) error {
	if flags.asJSON {
		return printJSON(a.stdout, struct {
			From          string  `json:"from"`
			To            string  `json:"to"`
			DryRun        bool    `json:"dry_run"`
			Organizations []*move `json:"organizations"`
		}{flags.from, flags.to, flags.dryRun, append([]*move{}, m.moves...)}) // [], never null
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	added := "COPIED"
	if flags.dryRun {
		added = "TO COPY"
	}
	fmt.Fprintf(w, "ORGANIZATION\tPRESENT\t%s\tSOURCE\tTARGET\tSOURCE SHA-256\tTARGET SHA-256\tRESULT\n", added)
	for _, one := range m.moves {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", one.Org, one.Present, one.Added, one.Source.Count, one.Target.Count,
			shortDigest(one.Source.SHA256), shortDigest(one.Target.SHA256), a.paintResult(one.Result))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, one := range m.moves {
		if one.Error != "" {
			fmt.Fprintf(a.stderr, "%s: %s\n", one.Org, printable.Text(one.Error))
		}
	}
	return nil
}

func shortDigest(text string) string {
	if text == "" {
		return "-"
	}
	return text[:min(shownDigest, len(text))]
}

func (a *app) paintResult(result string) string {
	switch result {
	case moveEqual:
		return a.paint(green, result)
	case moveFailed, moveDiffers:
		return a.paint(red, result)
	case "":
		return "not reached"
	}
	return result
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/dual"
)

func newDataCompareCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Compare the two sides of a dual store",
		Long: `Compare, for each organization, how many records the CSV files and the database have, and
the time of the newest. A side may lack what it is owed, and what it refuses or an operator gave
up (see holdfast data deadletter); whatever else differs is named, and the exit code is 1: one side was
restored from a backup, say. It looks at counts only. To compare every record, use
holdfast data migrate --from csv --to dual --dry-run, which also says whether the database
can be made equal to the files.

` + operatorHelp,
		Example: `  holdfast data compare
  holdfast data compare --json | jq '.organizations[] | select(.differ)'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onDual(cmd, func(ctx context.Context, store *dual.Store) error { return a.compare(ctx, store, asJSON) })
		},
	}
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	addConfigFlag(cmd)
	return cmd
}

func (a *app) compare(ctx context.Context, store *dual.Store, asJSON bool) error {
	all, differing := []dual.Comparison{}, int64(0)
	for c, err := range store.Compare(ctx) {
		if err != nil {
			return err
		}
		all = append(all, c)
		if c.Differ {
			differing++
		}
	}
	if err := a.showComparisons(all, differing, asJSON); err != nil {
		return err
	}
	if differing > 0 {
		return fmt.Errorf("the sides differ in %s", counted(differing, "organization"))
	}
	return nil
}

func (a *app) showComparisons(all []dual.Comparison, differing int64, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, struct {
			Differing     int64             `json:"differing"`
			Organizations []dual.Comparison `json:"organizations"`
		}{differing, all})
	}
	t := a.newTable(head{"ORGANIZATION", firm}, head{"CSV", firm}, head{"OWED", firm}, head{"REFUSED", firm},
		head{"NEWEST", wide},
		head{"MYSQL", firm}, head{"OWED", firm}, head{"REFUSED", firm}, head{"NEWEST", wide}, head{"RESULT", firm})
	for _, c := range all {
		result := moveEqual
		switch {
		case c.Differ:
			result = moveDiffers
		case c.CSV.Records != c.MySQL.Records:
			result = "behind"
		}
		t.add(append(append(append([]string{a.shortID(c.Org.String())}, extentCells(c.CSV)...), extentCells(c.MySQL)...),
			result)...)
	}
	return t.show()
}

func extentCells(e dual.Extent) []string {
	newest := "-"
	if !e.Newest.IsZero() {
		newest = stampOf(e.Newest.Time)
	}
	return []string{strconv.FormatInt(e.Records, 10), strconv.FormatInt(e.Owed, 10), strconv.FormatInt(e.Refused, 10),
		newest}
}

// stampOf shows a timestamp as records have it, so that it can be compared and searched for.
func stampOf(at time.Time) string { return string(inventory.AppendTime(nil, at)) }

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

// queryFlags are what the command line of query says.
type queryFlags struct {
	filterFlags
	limit  int
	order  string
	asJSON bool
}

func newDataQueryCommand(a *app) *cobra.Command {
	var flags queryFlags
	cmd := a.remote(&cobra.Command{
		Use:   "query",
		Short: "Show what was uploaded",
		Long: `Ask a server for the records of one organization: as a table on a terminal, as JSON
lines with --json or when stdout is none. Lines are as the server sends them.`,
		Example: `  holdfast data query --provider aws --since 24h
  holdfast data query --type vm_instance --attr size=t2.micro --order desc --limit 20
  holdfast data query --json | jq -r .data.resource_name
  holdfast data query --addr https://holdfast.example.com --credentials ~/.holdfast`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error { return a.query(ctx, c, flags) })
	flags.add(cmd)
	flags.addUntil(cmd)
	cmd.Flags().IntVar(&flags.limit, "limit", 0, "at most so many (default: all)")
	cmd.Flags().StringVar(&flags.order, "order", "asc", "asc, as recorded, or desc, newest first")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON lines, also on a terminal")
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) query(ctx context.Context, c *client.Client, flags queryFlags) error {
	q, err := flags.query(a.now())
	if err != nil {
		return err
	}
	if flags.order != "asc" && flags.order != "desc" {
		return usagef("--order: %.20q is not asc or desc", flags.order)
	}
	if err := checkLimit(flags.limit); err != nil {
		return err
	}
	q.Descending, q.Limit = flags.order == "desc", flags.limit
	show := a.shower(flags.asJSON)
	if err := show.begin(); err != nil {
		return err
	}
	records := c.Records(q)
	for record, err := range records.Raw(ctx) {
		if err == nil {
			err = show.record(record)
		}
		if err != nil {
			return err
		}
	}
	if end := records.End(); end.Next != nil && a.columns > 0 {
		a.note("There are more than these %d.", end.Count)
	}
	return nil
}

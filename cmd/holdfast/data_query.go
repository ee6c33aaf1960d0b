package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

// queryFlags are what the command line of query says.
type queryFlags struct {
	clientFlags
	filterFlags
	limit  int
	order  string
	asJSON bool
}

func newDataQueryCommand(a *app) *cobra.Command {
	var flags queryFlags
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Show what was uploaded",
		Long: `Ask a server for the records of one organization: as a table on a terminal, as JSON
lines with --json or when stdout is none. Lines are as the server sends them.

` + clientHelp,
		Example: `  holdfast data query --provider aws --since 24h
  holdfast data query --type vm_instance --attr size=t2.micro --order desc --limit 20
  holdfast data query --json | jq -r .data.resource_name
  holdfast data query --addr https://holdfast.example.com --credentials ~/.holdfast`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.query(cmd, flags) },
	}
	flags.clientFlags.add(cmd)
	flags.filterFlags.add(cmd)
	flags.addUntil(cmd)
	cmd.Flags().IntVar(&flags.limit, "limit", 0, "at most so many (default: all)")
	cmd.Flags().StringVar(&flags.order, "order", "asc", "asc, as recorded, or desc, newest first")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON lines, also on a terminal")
	return cmd
}

func (a *app) query(cmd *cobra.Command, flags queryFlags) error {
	client, err := a.client(flags.clientFlags)
	if err != nil {
		return err
	}
	values, err := flags.values(a.now())
	if err != nil {
		return err
	}
	if flags.order != "asc" && flags.order != "desc" {
		return usagef("--order: %.20q is not asc or desc", flags.order)
	}
	values.Set("order", flags.order)
	if flags.limit < 0 {
		return usagef("--limit: it is below zero")
	}
	show := a.shower(flags.asJSON)
	if err := show.begin(); err != nil {
		return err
	}
	sent, err := client.pages(cmd.Context(), values, flags.limit, show.record)
	if err != nil {
		return err
	}
	if sent.next != "" && a.columns > 0 {
		fmt.Fprintf(a.stderr, "There are more than these %d.\n", sent.count)
	}
	return nil
}

// queryPage is how many records are asked for at once. A server ends answers that take too
// long, however many records there are.
const queryPage = 20_000

// pages reads at most limit records, or all for 0, one page after the other.
func (c *client) pages(ctx context.Context, query url.Values, limit int, each func(json.RawMessage) error) (extent, error) {
	var all extent
	for {
		page := queryPage
		if limit > 0 {
			page = min(page, limit-all.count)
		}
		query.Set("limit", strconv.Itoa(page))
		sent, err := c.recordsBy(ctx, c.do, query, each)
		all = extent{count: all.count + sent.count, next: sent.next, last: sent.last}
		if err != nil || sent.next == "" || limit > 0 && all.count >= limit {
			return all, err
		}
		query.Set("cursor", sent.next)
	}
}

package main

import (
	"fmt"
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
	switch {
	case flags.limit < 0:
		return usagef("--limit: it is below zero")
	case flags.limit > 0:
		values.Set("limit", strconv.Itoa(flags.limit))
	}
	show := a.shower(flags.asJSON)
	if err := show.begin(); err != nil {
		return err
	}
	sent, err := client.records(cmd.Context(), values, show.record)
	if err != nil {
		return err
	}
	if sent.next != "" && a.columns > 0 {
		fmt.Fprintf(a.stderr, "There are more than these %d.\n", sent.count)
	}
	return nil
}

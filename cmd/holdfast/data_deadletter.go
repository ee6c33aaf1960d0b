package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/storage/dual"
)

func newDataDeadLetterCommand(a *app) *cobra.Command {
	cmd := newGroup("deadletter", "Look at uploads that one side of a dual store refuses, and decide on them")
	cmd.Long = `A dead letter is an upload that one side of a dual store has recorded and the other one
refuses for good: because it is larger than the database takes, say, or because the CSV file
was edited. It is kept in the outbox until it is tried again with success, or discarded.

` + operatorHelp
	cmd.AddCommand(newDeadLetterListCommand(a), newDeadLetterExportCommand(a), newDeadLetterRetryCommand(a),
		newDeadLetterDiscardCommand(a))
	return cmd
}

func newDeadLetterListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List dead letters",
		Long:  "List dead letters, the oldest first, with the side that refuses them and its reason.",
		Example: `  holdfast data deadletter list
  holdfast data deadletter list --json | jq '.[] | .number'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onDual(cmd, func(ctx context.Context,
				store *dual.Store) error {
				return a.listDeadLetters(ctx, store, asJSON)
			})
		},
	}
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	addConfigFlag(cmd)
	return cmd
}

func (a *app) listDeadLetters(ctx context.Context, store *dual.Store, asJSON bool) error {
	letters, err := store.DeadLetters(ctx)
	if err != nil {
		return err
	}
	return a.showDeadLetters(letters, asJSON)
}

func (a *app) showDeadLetters(letters []dual.DeadLetter, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, append([]dual.DeadLetter{}, letters...)) // [], never null
	}
	t := a.newTable(head{"NUMBER", firm}, head{"SINCE", firm}, head{"ORGANIZATION", firm}, head{"REFUSED BY", firm},
		head{"REQUEST", wide}, head{"TIMESTAMP", wide}, head{"RECORDS", wide}, head{"REASON", always})
	for _, l := range letters {
		t.add(strconv.FormatInt(l.Number, 10), a.tableTime(l.Buried), a.shortID(l.Org.String()), l.Side, l.Request,
			stampOf(l.At), strconv.Itoa(l.Records), l.Reason)
	}
	return t.show()
}

func newDeadLetterExportCommand(a *app) *cobra.Command {
	var output string
	flags := exportFlags{format: formatCSV}
	cmd := &cobra.Command{
		Use:   "export NUMBER",
		Short: "Write a dead letter's records to a file",
		Long:  "Write a dead letter's records, as the side that took them has them, as CSV or JSON lines.",
		Example: `  holdfast data deadletter export 17 -o refused.csv
  holdfast data deadletter export 17 --format ndjson | jq .data.resource_name`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := parseNumber(args[0])
			if err != nil {
				return err
			}
			if flags.format != formatCSV && flags.format != formatNDJSON {
				return usagef("--format: %.20q is not csv or ndjson", flags.format)
			}
			return a.onDual(cmd, func(ctx context.Context, store *dual.Store) error {
				return a.exportDeadLetter(ctx, store, number, flags, output)
			})
		},
	}
	cmd.Flags().StringVar(&flags.format, "format", formatCSV, "csv or ndjson")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, mode 0600 (default: stdout)")
	addConfigFlag(cmd)
	return cmd
}

func (a *app) exportDeadLetter(ctx context.Context, store *dual.Store, number int64, flags exportFlags,
	output string) error {
	_, records, err := store.DeadLetter(ctx, number)
	if err != nil {
		return err
	}
	x := exporter{flags: flags}
	write := func(w io.Writer) error { return x.writeRecords(records, w) }
	if output == "" {
		err = write(a.stdout)
	} else {
		err = writeFile(output, write)
	}
	if err == nil {
		fmt.Fprintf(a.stderr, "Exported %s.\n", counted(x.records, "record"))
	}
	return err
}

func parseNumber(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return 0, usagef("%.20q is not a dead letter's number; `holdfast data deadletter list` shows them", text)
	}
	return number, nil
}

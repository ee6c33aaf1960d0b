package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// The formats of files.
const (
	formatCSV    = "csv"
	formatNDJSON = "ndjson"
)

// exportFlags are what the command line of export says.
type exportFlags struct {
	org, format, output string
	all, spreadsheet    bool
}

func newDataExportCommand(a *app) *cobra.Command {
	var flags exportFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write records to a file",
		Long: `Write all records of one organization, or of all, as CSV or as JSON lines. Either can
be imported again, with the same timestamps. --spreadsheet makes CSV that is safe to open
in a spreadsheet, by putting an apostrophe before what would be taken for a formula; such
a file is not exact and not for importing.

It works on the store that the settings name (holdfast.cfg, the environment). While a server
runs here that has CSV files to itself, it asks that one, which goes on meanwhile.`,
		Example: `  holdfast data export --org 11111111-2222-3333-4444-555555555555 -o acme.csv
  holdfast data export --all --format ndjson | zstd > uploads.ndjson.zst
  STORAGE_TYPE=mysql DB_HOST=db.example.com holdfast data export --all -o all.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.export(cmd, flags) },
	}
	cmd.Flags().StringVar(&flags.org, orgFlag, "", "the organization's UUID")
	cmd.Flags().BoolVar(&flags.all, "all", false, "every organization, one after the other")
	cmd.Flags().StringVar(&flags.format, "format", formatCSV, "csv or ndjson")
	cmd.Flags().BoolVar(&flags.spreadsheet, "spreadsheet", false, "CSV for opening in a spreadsheet")
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "file to write, mode 0600 (default, or -: stdout)")
	addConfigFlag(cmd)
	return cmd
}

func (a *app) export(cmd *cobra.Command, flags exportFlags) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	store, err := a.exportSource(cmd.Context(), settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	x := exporter{store: store, flags: flags}
	orgs := orgsOf(cmd, store)
	if flags.output == "" || flags.output == "-" {
		err = x.write(cmd.Context(), orgs, a.stdout)
	} else {
		err = writeFile(flags.output, func(w io.Writer) error { return x.write(cmd.Context(), orgs, w) })
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "Exported %s of %s.\n", counted(x.records, "record"), counted(x.organizations, "organization"))
	return nil
}

func (f exportFlags) check() error {
	switch {
	case f.all == (f.org != ""):
		return usagef("choose what to export: --org UUID or --all")
	case f.format != formatCSV && f.format != formatNDJSON:
		return usagef("--format: %.20q is not csv or ndjson", f.format)
	case f.spreadsheet && f.format != formatCSV:
		return usagef("--spreadsheet goes with --format csv only")
	}
	return nil
}

// exporter writes records, and counts them.
type exporter struct {
	store                  recordSource
	flags                  exportFlags
	records, organizations int64
	buf                    []byte
}

func (x *exporter) write(ctx context.Context, orgs iter.Seq2[uuid.UUID, error], to io.Writer) error {
	out, err := x.begin(to)
	if err != nil {
		return err
	}
	for org, err := range orgs {
		if err != nil {
			return err
		}
		x.organizations++
		for record, err := range x.store.Records(ctx, org, inventory.Query{}) {
			if err == nil {
				err = x.add(out, record.Record)
			}
			if err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// begin writes what stands before the records.
func (x *exporter) begin(to io.Writer) (*bufio.Writer, error) {
	out := bufio.NewWriterSize(to, 1<<16)
	if x.flags.format != formatCSV {
		return out, nil
	}
	_, err := out.WriteString(csvrow.Header)
	return out, err
}

func (x *exporter) add(out *bufio.Writer, r inventory.Record) error {
	_, err := out.Write(x.line(r))
	x.records++
	return err
}

func (x *exporter) line(r inventory.Record) []byte {
	switch {
	case x.flags.spreadsheet:
		x.buf = csvrow.AppendRow(x.buf[:0], csvrow.SpreadsheetSafe(csvrow.Fields(r))...)
	case x.flags.format == formatCSV:
		x.buf = csvrow.AppendRecord(x.buf[:0], r)
	default:
		x.buf = append(r.AppendJSON(x.buf[:0]), '\n')
	}
	return x.buf
}

// writeFile makes a file that is there whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	return placeFile(path, durable.Move, write)
}

// writeNewFile is writeFile that replaces nothing.
func writeNewFile(path string, write func(io.Writer) error) error {
	err := placeFile(path, durable.MoveNew, write)
	if errors.Is(err, fs.ErrExist) {
		return errThere(path)
	}
	return err
}

// placeFile writes a file beside its place, and moves it there.
func placeFile(path string, move func(from, to string) error, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if left := os.Remove(f.Name()); !errors.Is(left, fs.ErrNotExist) { // it may have been moved
			err = errors.Join(err, left)
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return move(f.Name(), path)
}

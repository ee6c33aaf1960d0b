package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/transfer"
)

// fileSet is what to import.
type fileSet struct {
	paths   []string
	formats []string
	org     uuid.UUID // the nil one for all
}

func (f importFlags) files(paths []string) (fileSet, error) {
	files := fileSet{paths: paths}
	if f.org != "" {
		var err error
		if files.org, err = parseOrg(f.org); err != nil {
			return fileSet{}, err
		}
	}
	for _, path := range paths {
		format := f.format
		if format == "" {
			format = map[string]string{".csv": formatCSV, ".ndjson": formatNDJSON, ".jsonl": formatNDJSON}[filepath.Ext(path)]
		}
		if format != formatCSV && format != formatNDJSON {
			return fileSet{}, usagef("%s: say with --format whether it is csv or ndjson", path)
		}
		files.formats = append(files.formats, format)
	}
	return files, nil
}

// imported counts an import, by organization.
type imported map[uuid.UUID]transfer.Tally

func (i imported) added() (n int64) {
	for _, t := range i {
		n += t.Added
	}
	return n
}

func (i imported) total() (n int64) {
	for _, t := range i {
		n += t.Added + t.Present
	}
	return n
}

// importOnce reads the files once. A total of 0 is not known yet.
func (a *app) importOnce(ctx context.Context, store inventory.Store, files fileSet, dryRun bool,
	total int64) (imported, error) {
	w := transfer.NewWriter(store, transfer.Options{Request: "import", DryRun: dryRun})
	defer w.Abandon()
	what := "importing"
	if dryRun {
		what = "checking"
	}
	p := a.startProgress(what, "record", total)
	defer p.end()
	for i, path := range files.paths {
		err := readRecords(path, files.formats[i], func(r inventory.Record) error {
			if files.org != uuid.Nil && r.Org != files.org {
				return nil
			}
			p.add()
			return w.Write(ctx, r)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	err := w.Close(ctx)
	return w.Tallies(), err
}

func readRecords(path, format string, each func(inventory.Record) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	read := map[string]func(io.Reader) iter.Seq2[inventory.Record, error]{formatCSV: transfer.ReadCSV,
		formatNDJSON: transfer.ReadNDJSON}[format]
	for record, err := range read(f) {
		if err == nil {
			err = each(record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// warnBacklog says when one side of a dual store has not got everything yet.
func (a *app) warnBacklog(store inventory.Store) {
	service := inventory.NewService(store)
	for side, owed := range service.Backlog() {
		if owed > 0 {
			fmt.Fprintf(a.stderr, "Warning: %s has missed %d requests; a server makes up for that once it runs and %s "+
				"is there.\n", side, owed, side)
		}
	}
	for side, refused := range service.Refused() {
		if refused > 0 {
			fmt.Fprintf(a.stderr, "Warning: %s has refused %d requests for good and lacks them; the log says which and why.\n",
				side, refused)
		}
	}
}

func (a *app) showImport(tally imported, flags importFlags) error {
	result := struct {
		Organizations int   `json:"organizations"`
		Added         int64 `json:"added"`
		Present       int64 `json:"present"`
		DryRun        bool  `json:"dry_run"`
	}{len(tally), tally.added(), tally.total() - tally.added(), flags.dryRun}
	if flags.asJSON {
		return printJSON(a.stdout, result)
	}
	verb := "Imported"
	if flags.dryRun {
		verb = "Would import"
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s of %s; %d there already.\n", verb,
		counted(result.Added, "record"), counted(int64(result.Organizations), "organization"), result.Present)
	return err
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// importFlags are what the command line of import says.
type importFlags struct {
	org, format    string
	dryRun, asJSON bool
}

func newDataImportCommand(a *app) *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Take records from files",
		Long: `Take records from CSV files or JSON lines, as export writes them, with the timestamps
that they have. Files are checked as a whole before anything is stored; several are read
as one, in the order given.

Records that the store has already are passed over, so an import that was interrupted is
run again to continue, and one that is repeated stores nothing twice. An organization's
records are only ever appended: a file whose records lie before others that the store
has is refused.

` + operatorHelp,
		Example: `  holdfast data import acme.csv
  holdfast data import january.ndjson february.ndjson --dry-run
  holdfast data import all.csv --org 11111111-2222-3333-4444-555555555555`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return a.importFiles(cmd, files, flags) },
	}
	cmd.Flags().StringVar(&flags.org, orgFlag, "", "only the records of this organization's UUID")
	cmd.Flags().StringVar(&flags.format, "format", "", "csv or ndjson (default: what the file's name ends in)")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what would be stored, and store nothing")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	addConfigFlag(cmd)
	return cmd
}

func (a *app) importFiles(cmd *cobra.Command, paths []string, flags importFlags) (err error) {
	files, err := flags.files(paths)
	if err != nil {
		return err
	}
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	store, err := a.openToWrite(cmd.Context(), settings)
	if err != nil {
		return err
	}
	defer closeStore(store, &err)
	// First as a dry run, so that a fault in the last line leaves nothing half-done.
	tally, err := a.importOnce(cmd.Context(), store, files, true, 0)
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	if !flags.dryRun && tally.added() > 0 {
		if _, err = a.importOnce(cmd.Context(), store, files, false, tally.total()); err != nil {
			return interrupted(cmd.Context(), err)
		}
		a.warnBacklog(store)
	}
	return a.showImport(tally, flags)
}

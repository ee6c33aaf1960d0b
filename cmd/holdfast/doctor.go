package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/backup"
	"github.com/holdfast/holdfast/storage/doctor"
	"github.com/holdfast/holdfast/storage/folder"
)

// doctorFlags are what the command line of doctor says.
type doctorFlags struct {
	repair, asJSON bool
	scratch        string
}

func newDoctorCommand(a *app) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Read all that a server keeps, and say what is damaged and what to do",
		Long: `Read all that a server keeps, and say what is damaged, unreadable or contradicts itself, with
what to do about each: the structure of each database, every version of every state and every candidate
by its digest, what is kept encrypted, uploads by their checksums, and what organizations use.

It reads a copy of one moment, so that a server goes on meanwhile and nothing is changed. The copy needs as
much room as the store, in a folder in it or in --scratch, and is removed in the end. What a killed doctor
has left of one is removed by the next doctor, or in the store when a server starts. States and runs that are
in a database (mysql, postgres) are copied from there, while all nodes go on; uploads that are there are
left to its server.

--repair does what loses nothing: what follows from the rest is made anew, in a folder while its server is
stopped, in a database also while nodes go on, each in one transaction. All else is left to a person. The
exit code is 0 where nothing is wrong, and 1 otherwise.`,
		Example: `  holdfast doctor
  holdfast doctor --json
  holdfast doctor --scratch /mnt/large
  holdfast doctor --repair`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd, flags) },
	}
	cmd.Flags().BoolVar(&flags.repair, "repair", false, "make anew what follows from the rest")
	cmd.Flags().StringVar(&flags.scratch, "scratch", "", "folder in which the copy is made (default: the store's)")
	addJSONFlag(cmd, &flags.asJSON)
	addConfigFlag(cmd)
	return cmd
}

func (a *app) doctor(cmd *cobra.Command, flags doctorFlags) (err error) {
	settings, err := a.storeSettings(cmd)
	if err != nil {
		return err
	}
	if err := storage.HasBackup(cmd.Context(), settings); err != nil {
		return err
	}
	report := &doctor.Report{Findings: []doctor.Finding{}}
	if err := a.examine(cmd, settings, flags, report); err != nil {
		return interrupted(cmd.Context(), err)
	}
	repaired, err := a.repair(cmd, settings, flags, report)
	if err != nil {
		return err
	}
	if err := a.showReport(*report, flags); err != nil {
		return err
	}
	if left := len(report.Findings) - repaired; left > 0 {
		return fmt.Errorf("%s found", counted(int64(left), "fault"))
	}
	return nil
}

// examine reads a copy.
func (a *app) examine(cmd *cobra.Command, settings configs.Settings, flags doctorFlags,
	report *doctor.Report) (err error) {
	parent := settings.Storage.Path
	if flags.scratch != "" {
		parent = flags.scratch
	}
	parent, err = filepath.Abs(parent)
	if err != nil {
		return err
	}
	moment, err := a.fixMoment(cmd.Context(), settings, func(f *backup.Folder) {
		f.Unreadable = report.Unreadable
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, moment.Close()) }()
	if _, err := folder.RemoveCopies(parent); err != nil {
		return err
	}
	scratch, remove, err := folder.MakeCopy(parent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	tell := func(what string) {
		if !flags.asJSON {
			fmt.Fprintf(a.stderr, "%s…\n", what)
		}
	}
	// What engines log of the copy is in the report, in better words.
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	return doctor.Check(cmd.Context(), moment, settings, scratch, report, log, tell)
}

// repair does what loses nothing, and says how much of what was found that was.
func (a *app) repair(cmd *cobra.Command, settings configs.Settings, flags doctorFlags,
	report *doctor.Report) (n int, err error) {
	if !flags.repair {
		return 0, nil
	}
	done := map[string]bool{}
	for i, f := range report.Findings {
		if f.Repair == "" {
			continue
		}
		if !done[f.Repair] {
			switch log := a.quietLog(settings); f.Repair {
			case doctor.RepairUsage:
				err = storage.CountUsage(cmd.Context(), settings, log)
			case doctor.RepairTotals:
				err = storage.CountTotals(cmd.Context(), settings, log)
			case doctor.RepairLists:
				err = storage.MarkForLists(cmd.Context(), settings, log)
			}
			if err != nil {
				return n, fmt.Errorf("nothing more was repaired: %w", err)
			}
		}
		done[f.Repair] = true
		report.Findings[i].Do, n = "nothing: "+f.Repair, n+1
	}
	return n, nil
}

func (a *app) showReport(r doctor.Report, flags doctorFlags) error {
	if flags.asJSON {
		return showJSON(a.stdout, r)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(a.stdout, "%s: %s\n    to do: %s\n", f.Where, f.What, f.Do)
	}
	c := r.Checked
	fmt.Fprintf(a.stderr, "Read %s in %s: %s, %s,\n%s kept encrypted, %s of uploads.\n", humanize.IBytes(uint64(c.Bytes)),
		counted(c.Files, "file"), counted(c.Versions, "version"), counted(c.Candidates, "candidate"),
		counted(c.Blobs, "content"), counted(c.Segments, "piece"))
	if len(r.Findings) == 0 {
		fmt.Fprintln(a.stderr, "Nothing is wrong.")
	}
	return nil
}

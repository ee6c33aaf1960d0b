package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/backup"
)

// addDatabase has a moment be also of what is in a database server.
func (a *app) addDatabase(ctx context.Context, settings configs.Settings, moment *backup.Moment) error {
	dump, err := storage.OpenDump(ctx, settings, a.quietLog(settings))
	if err != nil || dump == nil {
		return err
	}
	from, to := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = to.CloseWithError(dump.Write(ctx, to)) // nil ends it
	}()
	moment.Stream = from
	moment.EndWith(func() error {
		cancel()
		_ = from.Close()
		<-ended
		return dump.Close()
	})
	return nil
}

func newBackupLoadCommand(a *app) *cobra.Command {
	var at rewindFlags
	cmd := &cobra.Command{
		Use:   "load FOLDER",
		Short: "Load what a restored folder has of a database into an empty one",
		Long: `Load what was in a database when a backup was made, and is in files database-… of a folder that restore has
made, into the database that the settings name. It has to be there and empty. All of it is there in the end, or
nothing is: what one that was killed has left is removed by the next. Then the files are removed from the folder.

` + rewindHelp + `

Start no server before. The master key of the time opens what is encrypted.`,
		Example: `  holdfast restore monday.hfb --to /var/lib/holdfast --identity backup-key.txt
  holdfast backup load /var/lib/holdfast
  holdfast backup load /var/lib/holdfast --at 2026-11-21T12:00:00Z`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.loadDatabase(cmd, args[0], at) },
	}
	at.add(cmd)
	addConfigFlag(cmd)
	return cmd
}

// dumpIn are the files of a folder in which a dump is.
func dumpIn(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, backup.StreamName+"??????")) // in their order
}

func (a *app) loadDatabase(cmd *cobra.Command, dir string, at rewindFlags) (err error) {
	back, err := at.given()
	if err != nil {
		return err
	}
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	files, err := dumpIn(dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no %s… of a database: nothing that was in one is in the backup, or it is loaded", dir,
			backup.StreamName)
	}
	var parts []io.Reader
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		parts = append(parts, stoppable{cmd.Context(), file})
	}
	from := io.MultiReader(parts...)
	var done storage.Rewound
	if back {
		done, err = a.loadAt(cmd.Context(), settings, dir, from, at)
	} else {
		err = storage.LoadDump(cmd.Context(), settings, from, a.quietLog(settings))
	}
	if err != nil {
		return interrupted(cmd.Context(), err)
	}
	for _, path := range files {
		err = errors.Join(err, os.Remove(path))
	}
	fmt.Fprintf(a.stderr, "Loaded what was in the database into %s.\n", storage.DatabaseName(settings.Database))
	if back {
		a.showRewound(done, at.time)
	}
	return err
}

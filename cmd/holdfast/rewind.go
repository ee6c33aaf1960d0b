package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage"
)

// rewindFlags say to which time states are rolled back once they are restored.
type rewindFlags struct{ time, masterFile string }

const rewindHelp = `With --at each state is rolled back to the version that it had at that time, as far as versions are kept: later
ones stay in its history. A state that was not there yet is deleted, and one that was deleted since is there.
One of which no version of that time is kept is left as it is, and named; so is one that can't be read or
rolled back.`

func (f *rewindFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.masterFile, "master-key-file", "",
		"with --at, master key file of that time, unless the backup has it: encrypted states are read with it")
	cmd.Flags().StringVar(&f.time, "at", "", "roll states back to the versions of this time, as 2026-11-21T12:00:00Z is")
}

// given reports whether states are to be rolled back at all.
func (f *rewindFlags) given() (bool, error) {
	if f.time == "" && f.masterFile != "" {
		return false, usagef("--master-key-file goes with --at, which reads encrypted states; without it none is read")
	}
	return f.time != "", nil
}

func (f *rewindFlags) parse() (time.Time, error) {
	at, err := time.Parse(time.RFC3339, f.time)
	if err != nil {
		return at, usagef("--at: %.40q is no time such as 2026-11-21T12:00:00Z", f.time)
	}
	if at.After(time.Now()) {
		return at, usagef("--at: %s is still to come", f.time)
	}
	return at, nil
}

// explain says what to do where encrypted states could not be read.
func (f *rewindFlags) explain(err error) error {
	if fault.Is(err, fault.SealKeyMissing) && f.masterFile == "" {
		return fmt.Errorf("--at reads encrypted states: --master-key-file has to say where the master key of that time is: %w",
			err)
	}
	return err
}

// rewinding returns what is done to a folder that was restored before it is in its place: its states are rolled
// back to a time. It is nil where that is empty.
func (a *app) rewinding(ctx context.Context,
	flags rewindFlags) (finish func(string) error, done *storage.Rewound, err error) {
	if some, err := flags.given(); err != nil || !some {
		return nil, nil, err
	}
	at, err := flags.parse()
	if err != nil {
		return nil, nil, err
	}
	settings, err := configs.Load(configs.Sources{})
	if err != nil {
		return nil, nil, err
	}
	settings.Seal.MasterKeyFile = flags.masterFile
	done = new(storage.Rewound)
	return func(staged string) error {
		if err := statesInFolder(staged); err != nil {
			return err
		}
		settings.Storage.Path = staged
		*done, err = storage.Rewind(ctx, settings, at, a.quietLog(settings))
		return flags.explain(err)
	}, done, nil
}

// statesInFolder refuses a folder whose states are in the dump of a database.
func statesInFolder(dir string) error {
	files, err := dumpIn(dir)
	if err != nil || len(files) == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "state.db")); err == nil {
		return nil
	}
	return errors.New("--at is for states that are kept in a folder, and those of this backup were in a database: restore " +
		"without --at, and roll them back with `holdfast backup load --at`")
}

// loadAt loads a dump and rolls its states back.
func (a *app) loadAt(ctx context.Context, settings configs.Settings, dir string, from io.Reader,
	flags rewindFlags) (done storage.Rewound, err error) {
	at, err := flags.parse()
	if err != nil {
		return done, err
	}
	if flags.masterFile != "" {
		settings.Seal.MasterKeyFile = flags.masterFile
	} else if own := filepath.Join(dir, "master.key"); isFile(own) {
		settings.Seal.MasterKeyFile = own
	}
	done, err = storage.LoadDumpAt(ctx, settings, from, at, a.quietLog(settings))
	return done, flags.explain(err)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (a *app) showRewound(done storage.Rewound, at string) {
	fmt.Fprintf(a.stderr, "Rolled back %s to what they were at %s.\n", counted(int64(done.Changed), "state"), at)
	if n := len(done.Left); n > 0 {
		fmt.Fprintf(a.stderr, "Left as the backup has them, since no version of then is kept, %s:\n",
			counted(int64(n), "state"))
	}
	for _, ref := range done.Left {
		fmt.Fprintf(a.stderr, "  %s of %s\n", ref.Name, ref.Org)
	}
	if n := len(done.Unread); n > 0 {
		fmt.Fprintf(a.stderr, "Left as the backup has them, since they can't be read or rolled back, %s:\n", counted(int64(n), "state"))
	}
	for _, one := range done.Unread {
		fmt.Fprintf(a.stderr, "  %s of %s: %s\n", one.Ref.Name, one.Ref.Org, one.Why)
	}
}

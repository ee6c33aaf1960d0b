package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/storage/backup"
)

// restoreFlags are what the command lines of restore and backup verify say.
type restoreFlags struct {
	identities []string
	indexes    []string
	to         string
	asJSON     bool
	place      placeFlags
	at         rewindFlags
}

func (f *restoreFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.identities, "identity", nil, "file of an age identity (may be repeated)")
	cmd.Flags().StringArrayVar(&f.indexes, "index", nil,
		"index of each backup, in their order (default: what has the backup's name and "+indexEnd+")")
	addJSONFlag(cmd, &f.asJSON)
	f.place.add(cmd)
}

const archivesHelp = `After a backup of all come those of what changed since, each since the one before. They are files, or
s3://BUCKET/KEY, or one is - for stdin. With --identity they have to be encrypted. Each is compared with its
index where that is beside it, or --index names it: an index that was kept apart tells it from another one.`

func newBackupVerifyCommand(a *app) *cobra.Command {
	var flags restoreFlags
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Read backups, and compare them with what their manifests say",
		Long: `Read backups to their ends, and compare them with what their manifests say. Nothing is written, and no
server is asked. Where a file is in several of them, only restore puts it together and compares it whole.

` + archivesHelp,
		Example: `  holdfast backup verify monday.hfb --identity backup-key.txt
  holdfast backup verify monday.hfb tuesday.hfb --identity backup-key.txt --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			who, err := flags.who()
			if err != nil {
				return err
			}
			archives, err := a.archives(cmd.Context(), args, flags)
			if err != nil {
				return err
			}
			m, err := backup.Verify(archives, who)
			if err != nil {
				return err
			}
			return a.showBackup(m, flags.asJSON, "Verified")
		},
	}
	flags.add(cmd)
	return cmd
}

func newRestoreCommand(a *app) *cobra.Command {
	var flags restoreFlags
	cmd := &cobra.Command{
		Use:   "restore FILE... --to FOLDER",
		Short: "Make a folder of backups, for a server to start with",
		Long: `Make a folder of backups, for a server to start with. The folder must be empty or missing: nothing is
overwritten. It is there whole, with every file compared with its digest, or not at all.

` + rewindHelp + ` States that were in a database
go back when they are loaded (holdfast backup load --at).

A server serves it with storage.path (STORAGE_PATH) set to it. auth.cfg is in it, for auth.file
(HOLDFAST_AUTH_FILE), and the master key of the time has to be put beside it, unless the backup has it.

` + archivesHelp,
		Example: `  holdfast restore monday.hfb --to /var/lib/holdfast --identity backup-key.txt
  holdfast restore monday.hfb tuesday.hfb --to ./restored --identity backup-key.txt
  holdfast restore s3://acme-backups/monday.hfb --to ./restored --identity backup-key.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args, flags) },
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.to, "to", "", "folder to make")
	flags.at.add(cmd)
	return cmd
}

func (f *restoreFlags) who() (all []age.Identity, err error) {
	for _, path := range f.identities {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		some, err := age.ParseIdentities(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func (a *app) restore(ctx context.Context, args []string, flags restoreFlags) error {
	if flags.to == "" {
		return usagef("--to names the folder to make")
	}
	finish, rewound, err := a.rewinding(ctx, flags.at)
	if err != nil {
		return err
	}
	who, err := flags.who()
	if err != nil {
		return err
	}
	archives, err := a.archives(ctx, args, flags)
	if err != nil {
		return err
	}
	p := a.startTransfer("Restoring", 0)
	tell := func(n int64) { p.count.Add(n) }
	m, err := backup.Restore(archives, who, flags.to, tell, finish)
	p.end()
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := a.showBackup(m, flags.asJSON, "Restored"); err != nil {
		return err
	}
	if files, err := dumpIn(flags.to); err == nil && len(files) > 0 {
		fmt.Fprintf(a.stderr, "Load what was in a database into an empty one: holdfast backup load %s\n", flags.to)
	}
	if rewound != nil {
		a.showRewound(*rewound, flags.at.time)
	}
	fmt.Fprintf(a.stderr, "A server serves it with STORAGE_PATH=%s and the master key of that time. Stop the one that "+
		"the backup is of\nbefore: two that go on from one moment have two histories.\n", flags.to)
	return nil
}

// archives opens what arguments name, one when it is its turn. ctx ends the reading.
func (a *app) archives(ctx context.Context, args []string, flags restoreFlags) (all []backup.Archive, err error) {
	if len(flags.indexes) > 0 && len(flags.indexes) != len(args) {
		return nil, usagef("--index is given once for each backup, or not at all")
	}
	for i, arg := range args {
		one := backup.Archive{Open: func() (io.ReadCloser, error) {
			from, err := a.openPlace(ctx, arg, flags.place)
			if err != nil {
				return nil, err
			}
			return stoppable{ctx, from}, nil
		}}
		if len(flags.indexes) > 0 {
			one.Index, err = readIndex(flags.indexes[i])
		} else if one.Index, err = readIndex(arg + indexEnd); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// stoppable ends with a context.
type stoppable struct {
	ctx context.Context
	io.ReadCloser
}

// Read implements io.Reader.
func (s stoppable) Read(into []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(into)
}

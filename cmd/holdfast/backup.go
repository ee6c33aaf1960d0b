package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/backup"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqlite"
)

// backupFlags are what the command line of backup says.
type backupFlags struct {
	output, since, index, recipientsFile string
	recipients                           []string
	unencrypted, withMaster, asJSON      bool
	overwrite                            bool
	place                                placeFlags
}

// indexEnd is behind the name of an archive in that of its index.
const indexEnd = ".index"

func newBackupCommand(a *app) *cobra.Command {
	var flags backupFlags
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Write all that a server keeps into one encrypted file",
		Long: `Write all that a server keeps in its folder into one file, as it is at one moment: states with all
versions, locks, candidates and the audit log, workspaces, configurations, runs, notices, uploads, and
auth.cfg. A server that runs goes on: its writers wait some milliseconds. The index of resources is left
out; a server makes it again. What is kept in a database (mysql, postgres) is in it too, as of one moment.

The file is encrypted to age recipients, and can be read by who has one of their identities alone. The
master key is not in it, unless --with-master-key says so: keep it apart.

With --since it is what changed since another backup. The index beside each file says what it has, without
saying what that is, so that who makes backups needs no key to read them.

It goes into a file, to stdout (-) or into a bucket (s3://BUCKET/KEY, with the credentials in AWS_ACCESS_KEY_ID
and AWS_SECRET_ACCESS_KEY). A file is there whole or not at all. One that is there already is left as it is,
unless --overwrite says so: backups since may count on it.`,
		Example: `  age-keygen -o backup-key.txt
  holdfast backup -o monday.hfb --recipient age1…
  holdfast backup -o tuesday.hfb --since monday.hfb --recipient age1…
  holdfast backup -o s3://acme-backups/monday.hfb --index monday.index --recipients-file recipients.txt
  holdfast backup -o - --recipient age1… | ssh backup.example.com 'cat > monday.hfb'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.backUp(cmd, flags) },
	}
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "file to write, s3://BUCKET/KEY, or - for stdout")
	cmd.Flags().StringArrayVar(&flags.recipients, "recipient", nil, "age recipient who can read it (may be repeated)")
	cmd.Flags().StringVar(&flags.recipientsFile, "recipients-file", "", "file with age recipients, one in a line")
	cmd.Flags().StringVar(&flags.since, "since", "", "backup, or index of one, that this is the changes of")
	cmd.Flags().StringVar(&flags.index, "index", "", "file of the index (default: the output's name and "+indexEnd+")")
	cmd.Flags().BoolVar(&flags.unencrypted, "unencrypted", false, "let everybody read it who has the file")
	cmd.Flags().BoolVar(&flags.withMaster, "with-master-key", false, "put the master key into it too")
	cmd.Flags().BoolVar(&flags.overwrite, "overwrite", false, "replace a backup that is there")
	addJSONFlag(cmd, &flags.asJSON)
	flags.place.add(cmd)
	addConfigFlag(cmd)
	cmd.AddCommand(newBackupVerifyCommand(a), newBackupLoadCommand(a))
	return cmd
}

func (f *backupFlags) check() error {
	switch {
	case f.output == "":
		return usagef("--output says where it goes: a file, s3://BUCKET/KEY, or - for stdout")
	case f.output == "-" && f.asJSON:
		return usagef("--json goes to stdout, and so does the backup")
	case f.unencrypted == (len(f.recipients)+len(f.recipientsFile) > 0):
		return usagef("say who can read it: --recipient or --recipients-file, or --unencrypted for everybody")
	case f.since != "" && samePath(strings.TrimSuffix(f.since, indexEnd), f.output):
		return usagef("--output is the backup that --since names: what changed can't stand in the place of what it changed " +
			"since; name another file")
	}
	if f.index == "" && f.output != "-" && !strings.HasPrefix(f.output, "s3://") {
		f.index = f.output + indexEnd
	}
	return nil
}

func (f *backupFlags) readers() (all []age.Recipient, err error) {
	if len(f.recipients) > 0 {
		if all, err = age.ParseRecipients(strings.NewReader(strings.Join(f.recipients, "\n"))); err != nil {
			return nil, usagef("--recipient: %w", err)
		}
	}
	if f.recipientsFile == "" {
		return all, nil
	}
	text, err := os.Open(f.recipientsFile)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	more, err := age.ParseRecipients(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.recipientsFile, err)
	}
	return append(all, more...), nil
}

// sinceIndex is the file of the index that --since names.
func (f *backupFlags) sinceIndex() string { return strings.TrimSuffix(f.since, indexEnd) + indexEnd }

// dropIndex removes what an index says of an archive that is about to be replaced: killed in between, there is
// none. That of --since is of an archive that stays.
func (f *backupFlags) dropIndex() error {
	if f.index == "" || f.since != "" && samePath(f.index, f.sinceIndex()) {
		return nil
	}
	return removeFile(f.index)
}

// before is the index of the backup that this one is the changes of.
func (f *backupFlags) before() (*backup.Index, error) {
	if f.since == "" {
		return nil, nil
	}
	index, err := readIndex(f.sinceIndex())
	if err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	return index, nil
}

func readIndex(path string) (*backup.Index, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index, err := backup.ReadIndex(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &index, nil
}

func (a *app) backUp(cmd *cobra.Command, flags backupFlags) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	settings, err := a.storeSettings(cmd)
	if err != nil {
		return err
	}
	if err := storage.HasBackup(cmd.Context(), settings); err != nil {
		return err
	}
	if !flags.overwrite {
		if err := a.checkFree(cmd.Context(), flags.output, flags.place); err != nil {
			return err
		}
	}
	o := backup.Options{Version: version}
	if o.To, err = flags.readers(); err != nil {
		return err
	}
	if o.Since, err = flags.before(); err != nil {
		return err
	}
	moment, err := a.fixMoment(cmd.Context(), settings, func(f *backup.Folder) {
		f.Before = o.Since
		if flags.withMaster {
			f.Others["master.key"] = settings.MasterKeyPath()
		}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, moment.Close()) }()
	if err := a.addDatabase(cmd.Context(), settings, moment); err != nil {
		return err
	}
	p := a.startTransfer("Backing up", moment.Bytes())
	o.Tell = func(n int64) { p.count.Add(n) }
	manifest, err := a.writeBackup(cmd.Context(), flags, moment, o)
	p.end()
	if err != nil {
		return interrupted(cmd.Context(), err)
	}
	if err := folder.MarkBackup(settings.Storage.Path, a.now()); err != nil {
		a.note("Warning: the server's metrics will not know of this backup: %v", err)
	}
	return a.showBackup(manifest, flags.asJSON, "Backed up")
}

// writeBackup writes an archive and then its index: never is one there that is of another archive.
func (a *app) writeBackup(ctx context.Context, flags backupFlags, moment *backup.Moment,
	o backup.Options) (manifest backup.Manifest, err error) {
	var index backup.Index
	err = a.writePlace(ctx, flags.output, flags.place, flags.overwrite, func(to io.Writer) (err error) {
		if manifest, index, err = backup.Write(ctx, to, moment, o); err != nil {
			return err
		}
		return flags.dropIndex()
	})
	if err != nil || flags.index == "" {
		return manifest, err
	}
	err = writeFile(flags.index, func(to io.Writer) error { return json.NewEncoder(to).Encode(index) })
	if err != nil {
		return manifest, fmt.Errorf("the backup is there, and its index is not: %w", err)
	}
	return manifest, nil
}

// fixMoment fixes the moment of what a server keeps, also while it runs. more says what else belongs to it.
func (a *app) fixMoment(ctx context.Context, settings configs.Settings,
	more func(*backup.Folder)) (*backup.Moment, error) {
	from := backup.Folder{Dir: settings.Storage.Path, Outbox: settings.Storage.OutboxPath, Others: map[string]string{},
		Elsewhere: storage.NotInFolder(settings)}
	if settings.Auth.Source != configs.AuthDatabase {
		from.Others["auth.cfg"] = settings.Auth.File
	}
	more(&from)
	dir, err := filepath.Abs(from.Dir)
	if err != nil {
		return nil, err
	}
	from.Dir = dir
	if !storage.UsesFolder(settings) { // what there is is in a database, and this may be the first command here
		if err := storage.MakeFolder(settings); err != nil {
			return nil, err
		}
	}
	if running := runningServer(ctx, server.OperatorSocket(settings)); running != nil {
		still, release, err := running.holdBy(ctx, server.OperatorStill)
		if err != nil {
			return nil, err
		}
		defer release()
		moment, err := from.Fix(ctx, a.now())
		if err == nil && still.Err() != nil { // it was written meanwhile
			err = errors.Join(errors.New("the server did not wait for the backup; try again"), moment.Close())
		}
		return moment, err
	}
	release, err := sqlite.Hold(dir)
	if err != nil {
		return nil, err
	}
	moment, err := from.Fix(ctx, a.now())
	// What is fixed stays as it is, so a server may start meanwhile.
	if left := release(); err == nil && left != nil {
		err = errors.Join(left, moment.Close())
	}
	return moment, err
}

// showBackup says what an archive has.
func (a *app) showBackup(m backup.Manifest, asJSON bool, what string) error {
	if asJSON {
		return showJSON(a.stdout, m)
	}
	var bytes int64
	for _, f := range m.Files {
		bytes += f.Size
	}
	fmt.Fprintf(a.stderr, "%s %s in %s, as of %s.\n", what, humanize.IBytes(uint64(bytes)),
		counted(int64(len(m.Files)), "file"), m.At.Format("2006-01-02 15:04:05 MST"))
	return nil
}

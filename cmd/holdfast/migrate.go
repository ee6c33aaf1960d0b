package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/moving"
)

// movingFlags are what the command line of migrate says.
type movingFlags struct {
	from, to                   string
	live                       bool
	then                       string
	abandon, noUploads, asJSON bool
}

func newMigrateCommand(a *app) *cobra.Command {
	var flags movingFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move all that a server keeps into the database that nodes share, or back",
		Long: `Move all that a server keeps from its folder into the database that nodes share, or back: states with
all versions and their times, locks, candidates, digests of what was purged, the audit log, workspaces,
variables and other secrets, configurations, runs with their logs, pools and agents, sessions, notices
that wait, when keys were last used, and uploads. Nothing is deleted, and nothing that is encrypted is
decrypted: both ends need the same master key.

The target has to be empty. It is copied to by comparing, so that a move that was interrupted or killed
is run again to continue. At the end both ends are read and compared: the number of records, and a
SHA-256 over all of them.

Servers that use either end are stopped before; one that is started meanwhile waits for the end of the
move, or refuses to serve what was moved away.

With --live the server whose folder is moved goes on while most of it is copied. Then its requests wait
for the last of it, for seconds, and go on at the server that --then names, which was started before and
waits for the end of the move. The old server sends on what still comes to it until it is stopped.

Folder and database are those of the settings (storage.path, database.*), whatever state.storage is: the database is
one of PostgreSQL where database.url (DATABASE_URL) is set, and else one of MySQL or MariaDB.`,
		Example: `  holdfast migrate --from sqlite --to mysql
  DB_HOST=db.example.com DB_USER=holdfast DB_PASSWORD=… holdfast migrate --from sqlite --to mysql --json
  holdfast migrate --from sqlite --to mysql --live --then http://node-1.example.com:7777
  STORAGE_PATH=/var/lib/holdfast-back holdfast migrate --from mysql --to sqlite
  DATABASE_URL=postgres://… holdfast migrate --from sqlite --to postgres
  STORAGE_PATH=/var/lib/holdfast-back DATABASE_URL=postgres://… holdfast migrate --from postgres --to sqlite`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.moveAll(cmd, flags) },
	}
	cmd.Flags().StringVar(&flags.from, "from", "", "sqlite, mysql or postgres")
	cmd.Flags().StringVar(&flags.to, "to", "", "mysql, postgres or sqlite")
	cmd.Flags().BoolVar(&flags.abandon, "abandon", false, "let servers serve the source again, as it is")
	cmd.Flags().BoolVar(&flags.noUploads, "without-uploads", false, "leave uploads where they are")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON, also about the progress, on stderr")
	cmd.Flags().BoolVar(&flags.live, "live", false, "go on to serve the folder until most of it is there")
	cmd.Flags().StringVar(&flags.then, "then", "", "with --live, the address of the server that requests go to in the end")
	a.addWideFlag(cmd)
	addConfigFlag(cmd)
	return cmd
}

func (f movingFlags) check() error {
	if !configs.OnServer(f.database()) || f.from != configs.SQLite && f.to != configs.SQLite {
		return usagef("migrate goes --from sqlite --to mysql or postgres, or --from mysql or postgres --to sqlite")
	}
	return nil
}

// database is the end that is no folder.
func (f movingFlags) database() string {
	if f.from == configs.SQLite {
		return f.to
	}
	return f.from
}

// relocation is a move on its way, with what there is to say about it.
type relocation struct {
	a        *app
	flags    movingFlags
	settings configs.Settings
	move     *storage.Move

	resumed bool
	uploads *migration // nil where none are moved
	tables  []movedTable
	changed map[string]int64 // by table
}

// movedTable is what became of a table.
type movedTable struct {
	moving.Extent
	Copied int64         `json:"copied"` // now; what was at the target before is not counted
	Target moving.Extent `json:"target"`
	Equal  bool          `json:"equal"`
}

func (a *app) moveAll(cmd *cobra.Command, flags movingFlags) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if err := flags.checkLive(settings); err != nil {
		return err
	}
	r := &relocation{a: a, flags: flags, settings: settings, changed: map[string]int64{}}
	ctx := cmd.Context()
	if flags.abandon {
		return storage.AbandonMove(ctx, settings, flags.from, flags.live, a.quietLog(settings))
	}
	if r.move, err = storage.OpenMove(ctx, settings, flags.from, flags.to, flags.live, a.quietLog(settings)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.move.Close()) }()
	r.resumed, err = r.move.Begin(ctx)
	if moved, before := errors.AsType[storage.ErrMoved](err); before { // the end of that may not have been told
		fmt.Fprintf(a.stderr, "Nothing was done: %v.\n", moved)
		return r.show(true)
	}
	if err != nil {
		return err
	}
	if err := r.carry(cmd); err != nil {
		return errors.Join(r.show(false), interrupted(ctx, err))
	}
	if err := r.move.Finish(ctx); err != nil {
		return err
	}
	return r.show(true)
}

// quietLog is a log for a person.
func (a *app) quietLog(settings configs.Settings) *slog.Logger {
	settings.Log.Format = configs.FormatText
	settings.Log.Level = max(settings.Log.Level, slog.LevelWarn)
	return newLogger(a.stderr, settings.Log)
}

// carry copies everything, and proves that it is there.
func (r *relocation) carry(cmd *cobra.Command) error {
	if r.flags.live {
		return r.carryLive(cmd)
	}
	if err := r.copy(cmd.Context(), false); err != nil {
		return err
	}
	if !r.flags.noUploads {
		if err := r.moveUploads(cmd); err != nil {
			return err
		}
	}
	return r.verify(cmd.Context(), true)
}

func (r *relocation) copy(ctx context.Context, read bool) error {
	tell, end, err := r.showing(ctx, "copying")
	if err != nil {
		return err
	}
	defer end()
	return r.move.Copy(ctx, read, func(table string, compared, changed int) {
		r.changed[table] += int64(changed)
		tell(table, compared, changed)
	})
}

func (r *relocation) verify(ctx context.Context, bodies bool) error {
	tell, end, err := r.showing(ctx, "verifying")
	if err != nil {
		return err
	}
	all, err := r.move.Verify(ctx, bodies, tell)
	end()
	if err != nil {
		return err
	}
	differ := 0
	for _, c := range all {
		r.tables = append(r.tables, movedTable{Extent: c.Source, Copied: r.changed[c.Table], Target: c.Target,
			Equal: c.Equal()})
		if !c.Equal() {
			differ++
		}
	}
	if differ > 0 {
		return fmt.Errorf("%s of the target are not equal to the source; the source is what counts, and nobody serves the "+
			"target", counted(int64(differ), "table"))
	}
	return nil
}

// moveUploads copies them as "holdfast data migrate" does, if there are any.
func (r *relocation) moveUploads(cmd *cobra.Command) (err error) {
	ctx := cmd.Context()
	files, err := r.a.open(ctx, r.settings, storage.OpenCSV)
	if err != nil {
		return err
	}
	defer closeStore(files, &err)
	database, err := r.a.open(ctx, r.settings, storage.OpenDatabase)
	if err != nil {
		return err
	}
	defer closeStore(database, &err)
	r.uploads = &migration{a: r.a, from: files, to: database}
	if configs.OnServer(r.flags.from) {
		r.uploads.from, r.uploads.to = database, files
	}
	if err := r.uploads.find(cmd, ""); err != nil {
		return err
	}
	return r.uploads.run(ctx)
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage"
)

// migrateFlags are what the command line of migrate says.
type migrateFlags struct {
	from, to, org  string
	dryRun, asJSON bool
}

func newDataMigrateCommand(a *app) *cobra.Command {
	var flags migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Copy all records from one engine to another",
		Long: `Copy all records from the CSV files to the database or the other way round, in their
order and with their timestamps. Nothing is deleted. At the end both sides are read and
compared: the number of records, and a SHA-256 over them in their order.

Records that the target has already are passed over, so a migration that was interrupted
is run again to continue. The target may hold the beginning of what the source has and
nothing else; else the migration is refused before it begins.

--to dual makes the database equal to the CSV files, so that the server can be started
with storage.type dual. What a dual store still owes one side is made up for first.

Folder and database are those of the settings (storage.path, database.*), whatever
storage.type is: with DATABASE_URL that is postgres, else mysql. Stop every server that uses them before you begin.`,
		Example: `  holdfast data migrate --from csv --to mysql --dry-run
  DB_HOST=db.example.com DB_USER=holdfast DB_PASSWORD=… holdfast data migrate --from csv --to mysql
  DATABASE_URL=postgres://… holdfast data migrate --from csv --to postgres
  holdfast data migrate --from csv --to dual
  holdfast data migrate --from mysql --to csv --org 11111111-2222-3333-4444-555555555555`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.migrate(cmd, flags) },
	}
	cmd.Flags().StringVar(&flags.from, "from", "", "csv, mysql or postgres")
	cmd.Flags().StringVar(&flags.to, "to", "", "mysql, postgres, dual or csv")
	cmd.Flags().StringVar(&flags.org, orgFlag, "", "only this organization's UUID")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what would be copied, and change no record")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	a.addWideFlag(cmd)
	addConfigFlag(cmd)
	return cmd
}

func (f migrateFlags) check() error {
	switch {
	case f.from == configs.CSV && (configs.OnServer(f.to) || f.to == configs.Dual):
		return nil
	case configs.OnServer(f.from) && f.to == configs.CSV:
		return nil
	}
	return usagef("migrate goes --from csv --to mysql, postgres or dual, or --from mysql or postgres --to csv")
}

// checkEngine refuses the name of another engine than that of the database which the settings name.
func checkEngine(d configs.Database, names ...string) error {
	for _, name := range names {
		switch {
		case name == configs.Postgres && d.Engine() != name:
			return usagef("postgres is what DATABASE_URL ([database] url) names, and it is not set")
		case name == configs.MySQL && d.Engine() != name:
			return usagef("DATABASE_URL ([database] url) names a database of PostgreSQL: say postgres instead of mysql, or " +
				"take it away")
		}
	}
	return nil
}

func (a *app) migrate(cmd *cobra.Command, flags migrateFlags) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	settings, err := a.settings(cmd)
	if err != nil {
		return err
	}
	if err := checkEngine(settings.Database, flags.from, flags.to); err != nil {
		return err
	}
	if flags.from == configs.CSV {
		if err := requireFolder(settings.Storage.Path); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	if flags.to == configs.Dual && !flags.dryRun {
		if err := a.settleDual(ctx, settings); err != nil {
			return err
		}
	}
	files, err := a.open(ctx, settings, storage.OpenCSV)
	if err != nil {
		return err
	}
	defer closeStore(files, &err)
	database, err := a.open(ctx, settings, storage.OpenDatabase)
	if err != nil {
		return err
	}
	defer closeStore(database, &err)
	m := &migration{a: a, from: files, to: database, dryRun: flags.dryRun}
	if configs.OnServer(flags.from) {
		m.from, m.to = database, files
	}
	if err := m.find(cmd, flags.org); err != nil {
		return err
	}
	err = m.run(ctx)
	return errors.Join(a.showMigration(m, flags), interrupted(ctx, err))
}

// settleDual has a dual store pay what it owes: copied under other IDs, that would later
// come a second time.
func (a *app) settleDual(ctx context.Context, settings configs.Settings) (err error) {
	store, err := a.open(ctx, settings, storage.OpenBoth)
	if err != nil {
		return err
	}
	defer closeStore(store, &err)
	for side, owed := range inventory.NewService(store).Backlog() {
		if owed > 0 {
			return fmt.Errorf("a dual store still owes %s %d requests: start a server with storage.type dual and wait until "+
				"/readyz is no longer degraded", side, owed)
		}
	}
	return nil
}

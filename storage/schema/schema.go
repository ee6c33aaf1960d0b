// Package schema brings a database's schema up to date: it runs the SQL steps that the
// database has not seen yet.
package schema

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

// Schema is what a database is to look like, as the steps that lead there.
type Schema struct {
	// Steps has SQL files with goose's annotations in the folder.
	Steps fs.FS
	// Folder is migrations without one.
	Folder string
	// Dialect is the database's.
	Dialect goose.Dialect
	// Table notes which steps were taken; goose's own name without one.
	Table string
	// Of is what the log calls the database.
	Of string
}

// Migrate takes the steps that are left, and logs each. It refuses a database that has
// seen steps which this program doesn't know.
//
// Where the database can do so, a step and the note that it was taken are one transaction:
// a kill in the middle leaves a step done or not begun, and the next start goes on from
// there. The caller keeps others out meanwhile.
func (s Schema) Migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	provider, err := s.provider(db)
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if have > want {
		return fmt.Errorf("it was made by a newer holdfast: its schema is at %d, and this program knows %d; run the newer "+
			"one, or restore a backup from before", have, want)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate the schema from %d to %d: %w", have, want, err)
	}
	s.tell(ctx, have, results, log)
	return nil
}

// Newest is the version that the steps lead to.
func (s Schema) Newest() (newest int64, err error) {
	folder, err := fs.Sub(s.Steps, cmp.Or(s.Folder, "migrations"))
	if err != nil {
		return 0, err
	}
	steps, err := readSteps(folder)
	for _, one := range steps {
		newest = max(newest, one.version)
	}
	return newest, err
}

// tell logs the steps that were taken; of a new database, that it was made.
func (s Schema) tell(ctx context.Context, from int64, results []*goose.MigrationResult, log *slog.Logger) {
	level := slog.LevelInfo
	if from == 0 && len(results) > 0 {
		log.InfoContext(ctx, s.Of+" made", "schema", results[len(results)-1].Source.Version)
		level = slog.LevelDebug
	}
	for _, step := range results {
		log.Log(ctx, level, s.Of+" migrated", "to", step.Source.Version, "took", step.Duration)
	}
}

func (s Schema) provider(db *sql.DB) (*goose.Provider, error) {
	folder, err := fs.Sub(s.Steps, cmp.Or(s.Folder, "migrations"))
	if err != nil {
		return nil, err
	}
	steps, err := readSteps(folder)
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger())}
	if s.Table != "" {
		options = append(options, goose.WithTableName(s.Table))
	}
	if migrations := asMigrations(steps); migrations != nil {
		folder, options = nil, append(options, goose.WithGoMigrations(migrations...))
	}
	return goose.NewProvider(s.Dialect, db, folder, options...)
}

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
	"regexp"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
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
	// Further returns the statements that make a table which no step makes, because servers make it as they need it; none
	// for other tables. It may be nil.
	Further func(table string) []string
}

// Migrate takes the steps that are left, and logs each. It refuses a database that has
// seen steps which this program doesn't know, and one from before the baseline, its first step.
//
// Where the database can do so, a step and the note that it was taken are one transaction:
// a kill in the middle leaves a step done or not begun, and the next start goes on from
// there. The caller keeps others out meanwhile.
func (s Schema) Migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	steps, err := s.steps()
	if err != nil {
		return err
	}
	provider, err := s.provider(db, steps)
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
	if first := steps[0].version; have > 0 && have < first {
		return fmt.Errorf("it was made by a holdfast of before the first release: its schema is at %d, and this program's "+
			"begin at %d; write its organizations out with that program's \"holdfast export\", and read the files with "+
			"this one's \"holdfast import export\" where there is no data yet", have, first)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate the schema from %d to %d: %w", have, want, err)
	}
	s.tell(ctx, have, results, log)
	return nil
}

// Make makes what the steps lead to in a transaction of the caller's, in a database that has nothing of it. Which steps
// that were is not noted: the caller fills the table of the notes like all others.
func (s Schema) Make(ctx context.Context, tx database.DBTxConn) error {
	steps, err := s.steps()
	if err != nil {
		return err
	}
	notes, err := database.NewStore(s.Dialect, cmp.Or(s.Table, goose.DefaultTablename))
	if err != nil {
		return err
	}
	if err := notes.CreateVersionTable(ctx, tx); err != nil {
		return err
	}
	for _, one := range steps {
		if one.alone {
			return fmt.Errorf("the step %d of the %s can't be part of a transaction", one.version, s.Of)
		}
		if err := one.run(ctx, tx); err != nil {
			return fmt.Errorf("make the %s: %w", s.Of, err)
		}
	}
	return nil
}

// Tables are those that the steps make.
func (s Schema) Tables() (all []string, err error) {
	steps, err := s.steps()
	makes := regexp.MustCompile(`(?i)^\s*CREATE TABLE\s+(?:IF NOT EXISTS\s+)?["\x60]?(\w+)`)
	for _, one := range steps {
		for _, statement := range one.statements {
			if made := makes.FindStringSubmatch(statement); made != nil {
				all = append(all, made[1])
			}
		}
	}
	return all, err
}

// Newest is the version that the steps lead to.
func (s Schema) Newest() (int64, error) {
	steps, err := s.steps()
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].version, nil
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

func (s Schema) folder() (fs.FS, error) { return fs.Sub(s.Steps, cmp.Or(s.Folder, "migrations")) }

// steps returns the baseline and what follows it, in order.
func (s Schema) steps() ([]step, error) {
	folder, err := s.folder()
	if err != nil {
		return nil, err
	}
	return readSteps(folder)
}

func (s Schema) provider(db *sql.DB, steps []step) (*goose.Provider, error) {
	folder, err := s.folder()
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

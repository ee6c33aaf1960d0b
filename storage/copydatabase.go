package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlite"
	"github.com/holdfast/holdfast/storage/states"
)

// CopyStates makes the database of states of a folder, as a server has it that keeps everything itself, of what a
// database had at a moment. What is sealed stays so. What follows from the rest is made anew.
func CopyStates(ctx context.Context, from *dump.Moment, dir string, log *slog.Logger) error {
	file, migrate := sqlite.File(dir)
	to, err := sqldb.Open(ctx, sqldb.Options{File: &sqldb.File{File: file, Migrate: migrate}, Log: log})
	if err != nil {
		return err
	}
	target := moving.Side{Database: to, Shapes: sqlite.Shapes()}
	err = moving.Copy(ctx, states.Side(from, from.Dialect), target, false, untold)
	if err == nil {
		err = to.Change(ctx, 0, sqlite.Complete)
	}
	return errors.Join(err, to.Close())
}

// CopyRuns is CopyStates of workspaces and runs.
func CopyRuns(ctx context.Context, from *dump.Moment, dir string, log *slog.Logger) error {
	to, err := sqldb.Open(ctx, sqldb.Options{Path: filepath.Join(dir, "runs.db"), Log: log})
	if err != nil {
		return err
	}
	source, target := moving.Side{Database: from}, moving.Side{Database: to}
	if source.Shapes, err = sqldb.ShapesOf(ctx, from, from.Dialect); err == nil {
		target.Shapes, err = to.Shapes(ctx)
	}
	if err == nil {
		err = moving.Copy(ctx, source, target, false, untold)
	}
	return errors.Join(err, to.Close())
}

func untold(string, int, int) {}

// CheckSchemas refuses a moment of a database that servers of another version have made, or none: its tables are not
// those that are known here, and nobody is to change them by looking.
func CheckSchemas(ctx context.Context, from *dump.Moment, withStates, withRuns bool) error {
	if withStates {
		if err := checkSchema(ctx, from, "states", states.Schema(from.Dialect)); err != nil {
			return err
		}
	}
	if withRuns {
		return checkSchema(ctx, from, "runs", sqldb.Schema(from.Dialect))
	}
	return nil
}

func checkSchema(ctx context.Context, from *dump.Moment, what string, of schema.Schema) error {
	if !from.Has(of.Table) {
		return fmt.Errorf("the database has no %s: no server has begun there yet", what)
	}
	want, err := of.Newest()
	if err != nil {
		return err
	}
	return from.Look(ctx, func(q moving.Querier) error {
		have, err := sqldb.All(q, func(rows *sql.Rows) (n int64, err error) { return n, rows.Scan(&n) },
			"SELECT coalesce(MAX(version_id), 0) FROM "+of.Table+" WHERE is_applied")
		if err == nil && have[0] != want {
			err = fmt.Errorf("the schema of %s in the database is at %d, and this program knows %d: take the holdfast that "+
				"serves it", what, have[0], want)
		}
		return err
	})
}

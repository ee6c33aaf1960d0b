package storage

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlite"
	"github.com/holdfast/holdfast/storage/states"
)

// CountUsage counts anew what organizations use. No server may have the folder; nodes may have the database.
func CountUsage(ctx context.Context, settings configs.Settings, log *slog.Logger) (err error) {
	if configs.OnServer(settings.State.Storage) {
		return states.CountUsage(ctx, statesOptions(settings.Database, log))
	}
	dir, err := filepath.Abs(settings.Storage.Path)
	if err != nil {
		return err
	}
	release, err := sqlite.Hold(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	db, err := sqldb.Open(ctx, sqldb.Options{File: statesFile(dir), Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Change(ctx, 0, sqlite.Complete)
}

// CountTotals counts anew how many states and locks there are in a database.
func CountTotals(ctx context.Context, settings configs.Settings, log *slog.Logger) error {
	return states.CountTotals(ctx, statesOptions(settings.Database, log))
}

// MarkForLists has lists of a database find what they are to find.
func MarkForLists(ctx context.Context, settings configs.Settings, log *slog.Logger) error {
	return states.MarkForLists(ctx, statesOptions(settings.Database, log))
}

// statesFile is the database of states in a folder, for who changes its rows without the engine.
func statesFile(dir string) *sqldb.File {
	file, migrate := sqlite.File(dir)
	return &sqldb.File{File: file, Migrate: migrate}
}

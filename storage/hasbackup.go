package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/mysqldump"
	"github.com/holdfast/holdfast/storage/pgdump"
	"github.com/holdfast/holdfast/storage/schema"
	sqluploads "github.com/holdfast/holdfast/storage/sql"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/states"
)

// OpenDump fixes a moment of the database, for a backup. It is nil where a server with these settings has nothing
// there that is nowhere else: what `dual` copies to it is in files. The caller closes it.
func OpenDump(ctx context.Context, settings configs.Settings, log *slog.Logger) (*dump.Moment, error) {
	if !InDatabase(settings) {
		return nil, nil
	}
	moment, err := openDump(ctx, settings.Database, log)
	if err != nil {
		return nil, err
	}
	if err := isWhole(ctx, moment); err != nil {
		return nil, errors.Join(err, moment.Close())
	}
	return moment, nil
}

func openDump(ctx context.Context, d configs.Database, log *slog.Logger) (*dump.Moment, error) {
	if d.Engine() == configs.Postgres {
		return pgdump.Open(ctx, postgresOptions(d, log), postgresSchemas(), markTable)
	}
	o, err := serverOptions(d, log).WithDefaults()
	if err != nil {
		return nil, err
	}
	return mysqldump.Open(ctx, o)
}

// postgresSchemas are those of all that is in a database of PostgreSQL's. A backup takes no table of another.
func postgresSchemas() []schema.Schema {
	return []schema.Schema{sqldb.Schema(sqldb.Postgres), states.Schema(sqldb.Postgres),
		sqluploads.Schema(sqldb.Postgres)}
}

// InDatabase reports whether a server with these settings keeps something in a database server alone.
func InDatabase(settings configs.Settings) bool {
	return configs.OnServer(settings.State.Storage) || configs.OnServer(settings.Runs.Storage) ||
		configs.OnServer(settings.Storage.Type) || settings.Auth.Source == configs.AuthDatabase
}

// NotInFolder are the databases of a folder that a server with these settings has in a database server.
func NotInFolder(settings configs.Settings) (all []string) {
	if configs.OnServer(settings.State.Storage) {
		all = append(all, "state.db")
	}
	if configs.OnServer(settings.Runs.Storage) {
		all = append(all, "runs.db")
	}
	if SharesDatabase(settings) {
		all = append(all, "notices.db")
	}
	return all
}

// HasBackup returns nil where what is in the folder of the settings is what is served, as far as it is not in a
// database.
func HasBackup(ctx context.Context, settings configs.Settings) error {
	switch {
	case settings.State.Storage == configs.Memory:
		return fmt.Errorf("states are kept in memory only (state.storage = memory): there is nothing to back up")
	case configs.OnServer(settings.State.Storage):
		return nil // what is in the folder is not what is served, whatever its marks say
	}
	dir, err := filepath.Abs(settings.Storage.Path)
	if err != nil {
		return err
	}
	all, _, err := folderMarks(dir).all(ctx)
	if err != nil {
		return err
	}
	if gone, some := find(all, markSource); some && gone.Done {
		return fmt.Errorf("%s was moved to %s at %s: what is here is not what is served", dir, gone.Other, shown(gone.At))
	}
	if half, some := find(all, markTarget); some {
		return fmt.Errorf("%s has only a part of what is in %s: a move to it has begun at %s", dir, half.Other, shown(half.At))
	}
	return nil
}

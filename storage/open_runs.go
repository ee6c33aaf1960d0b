package storage

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// OpenRuns opens the database of workspaces and runs that runs.storage names; nil where there
// is to be none. Beside states in memory it is in memory too. It waits for a database server
// that is not up yet, as long as database.startup_wait says. The caller closes it.
func OpenRuns(ctx context.Context, settings configs.Settings, log *slog.Logger) (*sqldb.DB, error) {
	switch settings.Runs.Storage {
	case configs.Off:
		return nil, nil
	case configs.MySQL, configs.Postgres:
		return sqldb.Open(ctx, onServer(settings.Database, log))
	case configs.SQLite:
		if settings.State.Storage == configs.Memory {
			log.WarnContext(ctx, "workspaces and runs are kept in memory only, as states are: they are gone when this "+
				"process ends")
			return sqldb.Open(ctx, sqldb.Options{Log: log})
		}
		dir, err := filepath.Abs(settings.Storage.Path)
		if err != nil {
			return nil, err
		}
		db, err := sqldb.Open(ctx, sqldb.Options{Path: filepath.Join(dir, "runs.db"), Log: log})
		switch {
		case sqlitedb.TroubleOf(err) == sqlitedb.Full:
			// States come first: their locks have to be released on a full disk too.
			log.ErrorContext(ctx, "there is no room for the database of workspaces and runs; states are served without them "+
				"until the next start", "path", dir, "error", err)
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("open the database of workspaces and runs: %w", err)
		}
		return db, nil
	default:
		return nil, fmt.Errorf("runs.storage: there is no engine %q", settings.Runs.Storage)
	}
}

// onServer are the options of the database of [database].
func onServer(d configs.Database, log *slog.Logger) sqldb.Options {
	o := sqldb.Options{StartupWait: d.StartupWait, Log: log}
	if d.Engine() == configs.Postgres {
		server := postgresOptions(d, log)
		o.Postgres = &server
		return o
	}
	server := serverOptions(d, log)
	o.MySQL = &server
	return o
}

// dialectOf is what the database of [database] speaks.
func dialectOf(d configs.Database) sqldb.Dialect {
	if d.Engine() == configs.Postgres {
		return sqldb.Postgres
	}
	return sqldb.MySQL
}

// openPool connects to the database of [database], whatever is there.
func openPool(d configs.Database, log *slog.Logger) (*sql.DB, error) {
	if d.Engine() == configs.Postgres {
		return postgresOptions(d, log).Open()
	}
	o, err := serverOptions(d, log).WithDefaults()
	if err != nil {
		return nil, err
	}
	return o.OpenPool(o.Name)
}

// DatabaseName is what the database of [database] is called on its server.
func DatabaseName(d configs.Database) string {
	if d.Engine() == configs.Postgres {
		return postgresOptions(d, nil).Name()
	}
	return d.Name
}

func postgresOptions(d configs.Database, log *slog.Logger) pgdb.Options {
	return pgdb.Options{URL: d.URL.Reveal(), MaxOpenConns: d.MaxOpenConns, MaxIdleConns: d.MaxIdleConns,
		ConnMaxLifetime: d.ConnMaxLifetime, ConnectTimeout: d.ConnectTimeout, Log: log}
}

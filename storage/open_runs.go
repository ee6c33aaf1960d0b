package storage

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// OpenRuns opens the database of workspaces and runs that runs.storage names; nil where there
// is to be none. Beside states in memory it is in memory too. It waits for a database server
// that is not up yet, as long as database.startup_wait says. The caller closes it.
func OpenRuns(ctx context.Context, settings configs.Settings, log *slog.Logger) (*sqldb.DB, error) {
	switch settings.Runs.Storage {
	case configs.Off:
		return nil, nil
	case configs.MySQL:
		o := serverOptions(settings.Database, log)
		return sqldb.Open(ctx, sqldb.Options{MySQL: &o, StartupWait: settings.Database.StartupWait, Log: log})
	case configs.SQLite:
		if settings.State.Storage != configs.SQLite {
			log.WarnContext(ctx, "workspaces and runs are kept in memory only, as states are: they are gone when this process ends")
			return sqldb.Open(ctx, sqldb.Options{Log: log})
		}
		dir, err := filepath.Abs(settings.Storage.Path)
		if err != nil {
			return nil, err
		}
		db, err := sqldb.Open(ctx, sqldb.Options{Path: filepath.Join(dir, "runs.db"), Log: log})
		if err != nil {
			err = fmt.Errorf("open the database of workspaces and runs: %w", err)
		}
		return db, err
	default:
		return nil, fmt.Errorf("runs.storage: there is no engine %q", settings.Runs.Storage)
	}
}

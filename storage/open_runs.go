package storage

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// OpenRuns opens the database of workspaces and runs: runs.db beside the states, a database of
// MySQL's protocol, or memory. The states have to be open, because they own the folder. The
// caller closes it.
func OpenRuns(ctx context.Context, settings configs.Settings, log *slog.Logger) (*sqldb.DB, error) {
	options := sqldb.Options{Log: log}
	switch kind := settings.Runs.Storage; {
	case kind == configs.MySQL:
		server := serverOptions(settings.Database, log)
		options.MySQL = &server
	case kind == configs.SQLite || settings.State.Storage == configs.SQLite:
		dir, err := filepath.Abs(settings.Storage.Path)
		if err != nil {
			return nil, err
		}
		options.Path = filepath.Join(dir, "runs.db")
	}
	return sqldb.Open(ctx, options)
}

package storage

import (
	"context"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/sqlauth"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// authConnections are those of a node for what it shares of auth.cfg: they are its own, so that no
// amount of other work keeps a revoked key good.
const authConnections = 2

// SharesDatabase reports whether nodes with these settings have a database in common, in which they
// can tell one another something.
func SharesDatabase(settings configs.Settings) bool {
	return settings.Auth.Source == configs.AuthDatabase || settings.Runs.Storage == configs.MySQL || settings.State.Storage == configs.MySQL
}

// OpenAuth opens what nodes share of auth.cfg in the database of [database]. It waits for a server
// that is not up yet, for as long as wait says; zero waits for as long as it takes. The caller
// closes it.
func OpenAuth(ctx context.Context, settings configs.Settings, wait time.Duration, log *slog.Logger) (*sqlauth.Store, error) {
	o := serverOptions(settings.Database, log)
	o.MaxOpenConns, o.MaxIdleConns = authConnections, authConnections
	db, err := sqldb.Open(ctx, sqldb.Options{MySQL: &o, StartupWait: wait, Log: log})
	if err != nil {
		return nil, err
	}
	return sqlauth.New(db), nil
}

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

// OpenAuth opens what nodes share of auth.cfg; see OpenShared.
func OpenAuth(ctx context.Context, settings configs.Settings, wait time.Duration, log *slog.Logger) (*sqlauth.Store, error) {
	db, err := OpenShared(ctx, settings, wait, log)
	if err != nil {
		return nil, err
	}
	return sqlauth.New(db), nil
}

// OpenShared opens the database of [database] for the little that nodes tell one another: what they
// have of auth.cfg, and whose turn it is to tell notices. It waits for a server that is not up yet,
// for as long as wait says; zero waits for as long as it takes. The caller closes it.
func OpenShared(ctx context.Context, settings configs.Settings, wait time.Duration, log *slog.Logger) (*sqldb.DB, error) {
	o := serverOptions(settings.Database, log)
	o.MaxOpenConns, o.MaxIdleConns = authConnections, authConnections
	return sqldb.Open(ctx, sqldb.Options{MySQL: &o, StartupWait: wait, Log: log})
}

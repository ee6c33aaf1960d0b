package storage

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqlauth"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// authConnections are those of a node for what it shares of auth.cfg: they are its own, so that no
// amount of other work keeps a revoked key good.
const authConnections = 2

// authPatience is for how long a node waits for one answer about keys: several times less than
// copies.Unconfirmed, so that a connection whose server has fallen silent is not all that it tries.
const authPatience = 2 * time.Second

// SharesDatabase reports whether nodes with these settings have a database in common, in which they
// can tell one another something.
func SharesDatabase(settings configs.Settings) bool {
	return settings.Auth.Source == configs.AuthDatabase || configs.OnServer(settings.Runs.Storage) ||
		configs.OnServer(settings.State.Storage)
}

// OpenAuth opens what nodes share of auth.cfg; see OpenShared.
func OpenAuth(ctx context.Context, settings configs.Settings, wait time.Duration,
	log *slog.Logger) (*sqlauth.Store, error) {
	db, err := OpenShared(ctx, settings, wait, log)
	if err != nil {
		return nil, err
	}
	master, err := MarkingMaster(ctx, settings)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return sqlauth.New(db, master), nil
}

// MarkingMaster returns the master keys that mark what nodes share of auth.cfg: those of the file that all of
// them have. It is nil where the settings name none, as each node has one of its own then, or it is not there yet.
func MarkingMaster(ctx context.Context, settings configs.Settings) (*seal.Master, error) {
	if settings.Seal.MasterKeyFile == "" && settings.Seal.MasterKeys.Reveal() == "" {
		return nil, nil
	}
	master, err := ReadMaster(ctx, settings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return master, err
}

// OpenShared opens the database of [database] for the little that nodes tell one another: what they
// have of auth.cfg, and whose turn it is to tell notices. It waits for a server that is not up yet,
// for as long as wait says; zero waits for as long as it takes. The caller closes it.
func OpenShared(ctx context.Context, settings configs.Settings, wait time.Duration,
	log *slog.Logger) (*sqldb.DB, error) {
	settings.Database.MaxOpenConns, settings.Database.MaxIdleConns = authConnections, authConnections
	o := onServer(settings.Database, log)
	o.StartupWait, o.Patience = wait, authPatience
	return sqldb.Open(ctx, o)
}

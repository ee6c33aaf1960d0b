package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/csv"
	"github.com/holdfast/holdfast/storage/dual"
	"github.com/holdfast/holdfast/storage/mysqldb"
	sqluploads "github.com/holdfast/holdfast/storage/sql"
)

// OpenUploads opens the store of uploads that storage.type names. The caller closes it. A
// database that is not up yet is waited for in the background: states and probes are served
// meanwhile.
func OpenUploads(ctx context.Context, settings configs.Settings, log *slog.Logger) (inventory.Store, error) {
	switch settings.Storage.Type {
	case configs.Memory:
		log.WarnContext(ctx, "uploads are refused: there is nowhere to keep them", "setting", "storage.type = memory")
		return inventory.Off{}, nil
	case configs.CSV:
		return OpenCSV(ctx, settings, log)
	case configs.MySQL, configs.Postgres:
		return openDatabase(ctx, settings.Database, log, true)
	case configs.Dual:
		return openDual(ctx, settings, log, true)
	default:
		return nil, fmt.Errorf("storage.type: there is no engine %q", settings.Storage.Type)
	}
}

// OpenCSV opens the CSV files, whatever storage.type is.
func OpenCSV(ctx context.Context, settings configs.Settings, log *slog.Logger) (inventory.Store, error) {
	store, err := csv.Open(ctx, csv.Options{Dir: settings.Storage.Path, Log: log, Now: time.Now})
	if err != nil {
		return nil, err // a nil *csv.Store would be no nil inventory.Store
	}
	return store, nil
}

// OpenDatabase opens the uploads of the database of [database], whatever storage.type is. It waits for a server that
// is not up yet, as long as database.startup_wait says.
func OpenDatabase(ctx context.Context, settings configs.Settings, log *slog.Logger) (inventory.Store, error) {
	return openDatabase(ctx, settings.Database, log, false)
}

// OpenBoth opens the CSV files and the database as a dual store, whatever storage.type is.
// Unlike OpenUploads it waits for the database, as OpenDatabase does.
func OpenBoth(ctx context.Context, settings configs.Settings, log *slog.Logger) (inventory.Store, error) {
	return openDual(ctx, settings, log, false)
}

// openDual can open the database in the background: CSV takes the uploads until it is up.
func openDual(ctx context.Context, settings configs.Settings, log *slog.Logger,
	background bool) (inventory.Store, error) {
	files, err := OpenCSV(ctx, settings, log)
	if err != nil {
		return nil, err
	}
	database, err := openDatabase(ctx, settings.Database, log, background)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	both, err := dual.Open(ctx, dual.Options{
		Dir: cmp.Or(settings.Storage.OutboxPath, settings.Storage.Path), CSV: files, Database: database,
		Engine: settings.Database.Engine(), Log: log, Server: background,
	})
	if err != nil {
		return nil, errors.Join(err, database.Close(), files.Close())
	}
	return both, nil
}

// openDatabase can open it in the background: the store says until then that it is away.
func openDatabase(ctx context.Context, d configs.Database, log *slog.Logger, background bool) (inventory.Store, error) {
	server := onServer(d, log)
	store, err := sqluploads.Open(ctx, sqluploads.Options{
		MySQL: server.MySQL, Postgres: server.Postgres, StartupWait: d.StartupWait, Background: background, Now: time.Now,
	})
	if err != nil {
		return nil, err // a nil *sqluploads.Store would be no nil inventory.Store
	}
	return store, nil
}

func serverOptions(d configs.Database, log *slog.Logger) mysqldb.Options {
	return mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password.Reveal(), Name: d.Name,
		TLS: d.TLS, TLSCAFile: d.TLSCAFile,
		MaxOpenConns: d.MaxOpenConns, MaxIdleConns: d.MaxIdleConns, ConnMaxLifetime: d.ConnMaxLifetime,
		ConnectTimeout: d.ConnectTimeout, Log: log,
	}
}

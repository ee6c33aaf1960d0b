package dual

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

func pragmas() []string {
	return []string{
		"busy_timeout(5000)",           // an operator's sqlite3 may hold the file for a moment
		"auto_vacuum(FULL)",            // a backlog that was paid gives its space back
		"journal_mode(WAL)",            //
		"synchronous(FULL)",            // with WAL: an fsync before each commit is reported
		"fullfsync(1)",                 // on macOS, where an ordinary fsync reaches only the drive's cache
		"checkpoint_fullfsync(1)",      //
		"secure_delete(1)",             // resources may hold secrets
		"journal_size_limit(33554432)", //
		"temp_store(MEMORY)",           // a container may have no temporary directory
		"trusted_schema(0)",
	}
}

// connect returns the database with one connection.
func connect(ctx context.Context, path string) (*sql.DB, error) {
	query := url.Values{"mode": {"rw"}, "_pragma": pragmas(), "_txlock": {"immediate"}, "_dqs": {"0"}}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	connector, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if mode != "wal" {
		return nil, errors.Join(fmt.Errorf("the file system does not support SQLite's WAL mode (it stays in %q mode); network file systems often don't", mode), db.Close())
	}
	return db, nil
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if have > want {
		return fmt.Errorf("it was made by a newer holdfast: its schema is at %d, and this program knows %d", have, want)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate the schema from %d to %d: %w", have, want, err)
	}
	for _, step := range results {
		log.InfoContext(ctx, "outbox migrated", "to", step.Source.Version, "took", step.Duration)
	}
	return nil
}

// prepareDir makes the directory, only for its owner. One that is there keeps its mode.
func prepareDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// takeDir locks the directory, for this process alone.
func takeDir(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !taken {
		return nil, fmt.Errorf("another holdfast process holds %s; stop it first, or give this one a directory of its own", path)
	}
	return lock, nil
}

// prepareFile makes the database file when it is missing, and its owner's alone in any
// case. SQLite gives the -wal and -shm files the mode of this one.
func prepareFile(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}

package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	driver "modernc.org/sqlite"
)

// applicationID is "HfUp"; the first migration sets it.
const applicationID = 0x48665570

func writerPragmas() []string {
	return []string{
		"busy_timeout(5000)", // an operator's sqlite3 may hold the file for a moment
		"synchronous(FULL)",  // with WAL: an fsync before each commit is reported
		"fullfsync(1)",       // on macOS, where an ordinary fsync reaches only the drive's cache
		"checkpoint_fullfsync(1)",
		"journal_size_limit(67108864)",
		"temp_store(MEMORY)", // a container may have no temporary directory
		"trusted_schema(0)",
	}
}

func readerPragmas() []string {
	return []string{"busy_timeout(5000)", "query_only(1)", "temp_store(MEMORY)", "trusted_schema(0)"}
}

// openDB returns the database with at most one connection, which has the pragmas.
func openDB(path, mode string, pragmas []string) (*sql.DB, error) {
	query := url.Values{"mode": {mode}, "_pragma": pragmas, "_dqs": {"0"}}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	connector, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// openWriter returns the database for writing, in WAL mode.
func openWriter(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openDB(path, "rw", writerPragmas())
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkOwner(ctx, db), enterWAL(ctx, db)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func enterWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not support SQLite's WAL mode (it stays in %q mode); network file systems often don't", mode)
	}
	return nil
}

// checkOwner refuses a database that has tables and no application ID of ours.
func checkOwner(ctx context.Context, db *sql.DB) error {
	var id, foreign int64
	err := db.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_schema
		WHERE type = 'table' AND name NOT IN ('goose_db_version', 'sqlite_sequence')) FROM pragma_application_id`).Scan(&id, &foreign)
	switch {
	case err != nil:
		return err
	case id == applicationID, id == 0 && foreign == 0:
		return nil
	default:
		return fmt.Errorf("it is an SQLite database of another application (ID %#x, %d tables)", id, foreign)
	}
}

// prepareFile makes the database file when it is missing, and its owner's alone in any
// case: SQLite gives the -wal and -shm files the mode of this one, whatever the umask.
func prepareFile(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Chmod(0o600)
}

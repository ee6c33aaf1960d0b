// Package sqlitedb is what the engines over SQLite share: how a database file is made
// ready and opened, and what SQLite's error codes mean.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	driver "modernc.org/sqlite"
)

// File is a database file and what is particular to it.
type File struct {
	// Path is absolute: in a connection's address a relative one would name another file.
	Path string
	// ApplicationID is what the schema's first step sets.
	ApplicationID int64
	// Shrinks says that the file is to have auto_vacuum, which gives free pages back. ClearGaps
	// refuses such a file; any other file that has it is refused when it is opened.
	Shrinks bool
	// Pragmas are the writing connection's own, beside those that all of them have, each
	// as name(value).
	Pragmas []string
}

// BusyTimeout is for how many milliseconds a connection waits for others: an operator's
// sqlite3 may hold the file for a moment.
const BusyTimeout = 5000

// writerPragmas are in force on every writing connection.
func writerPragmas() []string {
	return []string{
		busyTimeout(),
		"synchronous(FULL)", // with WAL: an fsync before each commit is reported
		"fullfsync(1)",      // on macOS, where an ordinary fsync reaches only the drive's cache
		"checkpoint_fullfsync(1)",
		"temp_store(MEMORY)", // a container may have no temporary directory
		"trusted_schema(0)",
	}
}

func busyTimeout() string { return fmt.Sprintf("busy_timeout(%d)", BusyTimeout) }

func readerPragmas() []string {
	return []string{busyTimeout(), "query_only(1)", "temp_store(MEMORY)", "trusted_schema(0)"}
}

// OpenWriter returns the database for writing, with at most one connection, in WAL mode,
// which the file remembers. The file has to be there, and to be ours or empty. A
// transaction takes the right to write when it begins.
func (f File) OpenWriter(ctx context.Context) (*sql.DB, error) {
	db, err := f.open("rw", append(writerPragmas(), f.Pragmas...))
	if err != nil {
		return nil, err
	}
	if err := f.enterWAL(ctx, db); err != nil {
		_ = db.Close()
		return nil, Explain(err)
	}
	return db, nil
}

// OpenReader returns the database for reading, with at most one connection.
func (f File) OpenReader() (*sql.DB, error) { return f.open("ro", readerPragmas()) }

func (f File) open(mode string, pragmas []string) (*sql.DB, error) {
	query := url.Values{"mode": {mode}, "_pragma": pragmas, "_txlock": {"immediate"}, "_dqs": {"0"}}
	dsn := url.URL{Scheme: "file", Path: f.Path, RawQuery: query.Encode()}
	connector, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

func (f File) enterWAL(ctx context.Context, db *sql.DB) error {
	if err := f.checkOwner(ctx, db); err != nil {
		return err
	}
	if !f.Shrinks {
		if err := checkPages(ctx, db); err != nil {
			return fmt.Errorf("%s %w", f.Path, err)
		}
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not support SQLite's WAL mode (it stays in %q mode); network file systems "+
			"often don't", mode)
	}
	return nil
}

// checkOwner refuses a database that has tables and no application ID of ours. Migrations
// create their own table first: a start that was killed there is ours.
func (f File) checkOwner(ctx context.Context, db *sql.DB) error {
	var id, foreign int64
	err := db.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_schema
		WHERE type = 'table' AND name NOT IN ('goose_db_version', 'sqlite_sequence')) FROM pragma_application_id`).Scan(&id,
		&foreign)
	switch {
	case err != nil:
		return err
	case id == f.ApplicationID, id == 0 && foreign == 0:
		return nil
	default:
		return fmt.Errorf("it is an SQLite database of another application (ID %#x, %d tables)", id, foreign)
	}
}

// checkPages refuses a database in which SQLite moves pages about to make the file shorter:
// its pointer-map pages look like pages of rows, and pages that ClearGaps has yet to look at
// would move to where it has been. It is not reset here, because VACUUM needs as much room
// again as the file has, and memory for it where there is no temporary folder.
func checkPages(ctx context.Context, in Querier) error {
	var mode int
	if err := in.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode); err != nil {
		return err
	}
	if mode != 0 {
		return errors.New(`has SQLite's auto_vacuum set, with which deleted bytes can't be overwritten for good; it was left as it is. Stop the server, copy the file, and run: sqlite3 FILE "PRAGMA auto_vacuum = NONE; VACUUM;"`)
	}
	return nil
}

// OpenMemory returns a database that is in memory only and gone when it is closed, with one
// connection for reading and writing.
func OpenMemory(pragmas []string) (*sql.DB, error) {
	query := url.Values{"_pragma": append([]string{"temp_store(MEMORY)", "trusted_schema(0)"}, pragmas...),
		"_txlock": {"immediate"}, "_dqs": {"0"}}
	connector, err := driver.NewConnector("file::memory:?" + query.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	driver "modernc.org/sqlite"
)

// journalLimit is what a checkpoint leaves of a WAL file that a burst made large. A file
// that stays is quicker to write than one that has to grow.
const journalLimit = 64 << 20

// writerPragmas are in force on the writing connection; a test reads them back.
func writerPragmas() []string {
	return []string{
		"busy_timeout(5000)", // an operator's sqlite3 may hold the file for a moment
		"page_size(4096)",
		"synchronous(FULL)", // with WAL: an fsync before each commit is reported
		"fullfsync(1)",      // on macOS, where an ordinary fsync reaches only the drive's cache
		"checkpoint_fullfsync(1)",
		"foreign_keys(1)",
		// Deleted bytes are overwritten, as they hold secrets. That takes 2 to 5 ms for each
		// MB deleted, against 0.7 to 1 without, and nothing measurable when writing.
		"secure_delete(1)",
		fmt.Sprintf("journal_size_limit(%d)", journalLimit),
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

// openWriter returns the database for writing, in WAL mode, which the file remembers.
func openWriter(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openDB(path, "rw", writerPragmas())
	if err != nil {
		return nil, err
	}
	if err := enterWAL(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

func enterWAL(ctx context.Context, db *sql.DB) error {
	if err := checkOwner(ctx, db); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not support SQLite's WAL mode (it stays in %q mode); network file systems often don't", mode)
	}
	return nil
}

// checkOwner refuses a database that has tables and no application ID of ours. Migrations
// create their own table first: a start that was killed there is ours.
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

// statement is a statement to prepare and where it goes.
type statement struct {
	to   **sql.Stmt
	text string
}

func prepare(ctx context.Context, conn *sql.Conn, statements []statement) (err error) {
	for _, s := range statements {
		if *s.to, err = conn.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

// closeConn closes a connection after its statements: sql.Conn leaves them open, and
// SQLite keeps its files open for as long as there is one.
func closeConn(conn *sql.Conn, statements []statement) error {
	var errs []error
	for _, s := range statements {
		if *s.to != nil {
			errs = append(errs, (*s.to).Close())
		}
	}
	return errors.Join(append(errs, conn.Close())...)
}

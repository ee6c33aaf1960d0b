package resourceindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	// finderConnections are for callers who look for something, in turns.
	finderConnections = 4
	// readConnections are for the indexer, and for what one row answers: neither waits for
	// who looks for something.
	readConnections = 2
)

// connections are of one database file, until it is opened again.
type connections struct {
	held    *sqlitedb.Held // nil in memory
	writer  *sql.DB
	readers *sql.DB // the writer, in memory
	finders *sql.DB // the writer, in memory
}

// dial opens a database file, or one in memory for no path.
func dial(ctx context.Context, file sqlitedb.File) (*connections, error) {
	if file.Path == "" {
		db, err := sqlitedb.OpenMemory(pragmas())
		return &connections{writer: db, readers: db, finders: db}, err
	}
	held, err := file.Hold()
	if err != nil {
		return nil, err
	}
	c := &connections{held: held}
	if c.writer, err = file.OpenWriter(ctx); err == nil {
		err = wholePages(ctx, c.writer, file.Path)
	}
	if err == nil {
		c.readers, err = openReaders(file, readConnections)
	}
	if err == nil {
		c.finders, err = openReaders(file, finderConnections)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func openReaders(file sqlitedb.File, connections int) (*sql.DB, error) {
	db, err := file.OpenReader()
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// wholePages refuses a file that is cut off within a page: SQLite reads zeros there.
func wholePages(ctx context.Context, db *sql.DB, path string) error {
	var size int64
	if err := db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Size()%size != 0 {
		return fmt.Errorf("%s is cut off within a page", path)
	}
	return err
}

// inPlace reports whether the file is still where it was opened. One that was removed is
// there for connections that have it, and for no others.
func (c *connections) inPlace() bool { return c.held == nil || c.held.InPlace() == nil }

// close closes the writer after the readers, because it removes the WAL, and lets go of the
// file when SQLite has.
func (c *connections) close() error {
	var errs []error
	for _, db := range []*sql.DB{c.finders, c.readers, c.writer} {
		if db != nil {
			errs = append(errs, db.Close())
			await(db)
		}
	}
	if c.held != nil {
		errs = append(errs, c.held.Close())
	}
	return errors.Join(errs...)
}

// closePatience is how long connections that are in use are waited for; a search is far shorter.
const closePatience = 5 * time.Second

// await waits until the connections of a closed pool that were in use have been given back. The last one of a
// database removes its WAL by its name, which would be that of a database that is made in its place.
func await(db *sql.DB) {
	for end := time.Now().Add(closePatience); db.Stats().OpenConnections > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

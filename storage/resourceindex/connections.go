package resourceindex

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const readConnections = 4

// connections are of one database file, until Reset makes another one.
type connections struct {
	held    *sqlitedb.Held // nil in memory
	writer  *sql.DB
	readers *sql.DB // the writer, in memory
}

func (x *Index) writer() *sql.DB { return x.current.Load().writer }

func (x *Index) readers() *sql.DB { return x.current.Load().readers }

// dial opens a database file, or one in memory for no path.
func dial(ctx context.Context, file sqlitedb.File) (*connections, error) {
	if file.Path == "" {
		db, err := sqlitedb.OpenMemory(pragmas())
		return &connections{nil, db, db}, err
	}
	held, err := file.Hold()
	if err != nil {
		return nil, err
	}
	writer, err := file.OpenWriter(ctx)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	readers, err := file.OpenReader()
	if err != nil {
		return nil, errors.Join(err, writer.Close(), held.Close())
	}
	readers.SetMaxOpenConns(readConnections)
	readers.SetMaxIdleConns(readConnections)
	return &connections{held, writer, readers}, nil
}

// close closes the writer after the readers, because it removes the WAL, and lets go of the
// file when SQLite has.
func (c *connections) close() error {
	err := errors.Join(c.readers.Close(), c.writer.Close())
	if c.held != nil {
		err = errors.Join(err, c.held.Close())
	}
	return err
}

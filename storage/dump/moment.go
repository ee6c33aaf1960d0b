package dump

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqldb"
)

var _ moving.Database = (*Moment)(nil)

// Moment is a moment of a database: all that is read is of it, whatever is written meanwhile. The caller closes it.
type Moment struct {
	Dialect sqldb.Dialect
	DB      *sql.DB
	Conn    *sql.Conn // in the transaction that sees the moment
	Tables  []string
	// Schemas are what Header has of them, or why the moment can't be written; nil for none.
	Schemas func(context.Context) (map[string]int64, error)
	// WriteTable writes a table with its rows.
	WriteTable func(ctx context.Context, w *Writer, name string) error
}

// fixTries is how often Fix tries.
const fixTries = 20

// Fix has begin begin a moment, find its tables and hold them; and all of it again where one is another by then, which
// isAnother says of an error: servers make and remove organizations' tables at any time.
func Fix(isAnother func(error) bool, begin func() error) (err error) {
	for range fixTries {
		if err = begin(); err == nil || !isAnother(err) {
			break
		}
	}
	return err
}

// Write writes all tables.
func (m *Moment) Write(ctx context.Context, to io.Writer) (err error) {
	var schemas map[string]int64
	if m.Schemas != nil {
		if schemas, err = m.Schemas(ctx); err != nil {
			return err
		}
	}
	w, err := NewWriter(to, m.Dialect, schemas)
	if err != nil {
		return err
	}
	for _, name := range m.Tables {
		if err := m.WriteTable(ctx, w, name); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return w.End()
}

// Look implements moving.Database: whatever is asked, all of it is of the moment.
func (m *Moment) Look(ctx context.Context, fn func(moving.Querier) error) error {
	tx := sqldb.OnConn(ctx, m.Conn, m.Dialect)
	if m.Dialect != sqldb.Postgres {
		return fn(tx)
	}
	// A statement that fails must not be the end of the transaction.
	if _, err := tx.Exec("SAVEPOINT look"); err != nil {
		return err
	}
	err := fn(tx)
	if err != nil {
		if _, undone := tx.Exec("ROLLBACK TO look"); undone != nil {
			return errors.Join(err, undone)
		}
	}
	_, released := tx.Exec("RELEASE look")
	return errors.Join(err, released)
}

// Change implements moving.Database. Nobody changes what was.
func (m *Moment) Change(context.Context, int, func(moving.Tx) error) error {
	return errors.New("dump: a moment can't be changed")
}

// RowValues implements moving.Database.
func (m *Moment) RowValues() bool { return m.Dialect != sqldb.MySQL }

// Has reports whether there is a table.
func (m *Moment) Has(table string) bool { return slices.Contains(m.Tables, table) }

// Close lets the moment go.
func (m *Moment) Close() error {
	if m.Conn != nil {
		_, _ = m.Conn.ExecContext(context.Background(), "ROLLBACK")
		_ = m.Conn.Close()
	}
	return m.DB.Close()
}

// Texts returns the only column of a query's rows.
func Texts(q moving.Querier, query string, args ...any) ([]string, error) {
	return sqldb.All(q, func(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }, query, args...)
}

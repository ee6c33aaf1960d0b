package mysqldump

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/holdfast/holdfast/storage/moving"
)

var _ moving.Database = (*Dump)(nil)

// Look implements moving.Database: whatever is asked, all of it is of the moment.
func (d *Dump) Look(ctx context.Context, fn func(moving.Querier) error) error {
	return fn(looker{ctx, d.conn})
}

// Change implements moving.Database. Nobody changes what was.
func (d *Dump) Change(context.Context, int, func(moving.Tx) error) error {
	return errors.New("mysqldump: a moment can't be changed")
}

// RowValues implements moving.Database.
func (d *Dump) RowValues() bool { return false }

// Has reports whether there is a table.
func (d *Dump) Has(table string) bool {
	return slices.Contains(d.names, table)
}

// looker is a moving.Querier.
type looker struct {
	ctx  context.Context
	conn *sql.Conn
}

// Query implements moving.Querier.
func (l looker) Query(query string, args ...any) (*sql.Rows, error) {
	return l.conn.QueryContext(l.ctx, query, args...)
}

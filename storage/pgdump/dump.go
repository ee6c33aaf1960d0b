// Package pgdump writes all tables of a database of PostgreSQL's as they are at one moment, and loads them into an
// empty one. It knows how tables are made, by their schemas, and nothing of what is in them.
//
// A table's rows are what COPY writes in its binary format, in pieces: each is a uvarint that says how many bytes it
// has, and those. A piece of none ends the table.
package pgdump

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Open fixes a moment of a database. Who would change one of the tables waits until it is closed. A database with other
// tables than those of the schemas, and the others, can't be written: nobody could make them again.
func Open(ctx context.Context, o pgdb.Options, schemas []schema.Schema, others ...string) (_ *dump.Moment, err error) {
	o.MaxOpenConns = 1
	db, err := o.Patient().Plain(pgdb.AsTexts, nil).Open()
	if err != nil {
		return nil, err
	}
	m := &dump.Moment{Dialect: sqldb.Postgres, DB: db}
	m.Schemas = func(ctx context.Context) (map[string]int64, error) { return versions(ctx, m, schemas, others) }
	m.WriteTable = func(ctx context.Context, w *dump.Writer, name string) error { return writeTable(ctx, m, w, name) }
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read the database %v: %w", o, err), m.Close())
		}
	}()
	if err := o.Check(ctx); err != nil {
		return nil, err
	}
	if m.Conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	unlock, err := o.LockSchema(ctx, m.Conn)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			err = unlock()
		}
	}()
	return m, dump.Fix(pgdb.IsNoTable, func() error { return hold(ctx, m) })
}

// hold begins a moment, and locks all tables. From then on none of them can become another one.
func hold(ctx context.Context, m *dump.Moment) (err error) {
	tx := sqldb.OnConn(ctx, m.Conn, m.Dialect)
	if _, err := tx.Exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return err
	}
	if m.Tables, err = tables(tx); err == nil && len(m.Tables) > 0 {
		_, err = tx.Exec("LOCK TABLE " + list(m.Tables) + " IN ACCESS SHARE MODE")
	}
	if err != nil {
		_, _ = m.Conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // so that another one can begin
	}
	return err
}

// tables returns those of the database in their order.
func tables(q sqldb.Querier) ([]string, error) {
	return dump.Texts(q, `SELECT table_name FROM information_schema.tables
		WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name COLLATE "C"`)
}

// list returns names as a statement has them.
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = pgdb.Quoted(name)
	}
	return strings.Join(quoted, ", ")
}

// versions returns those of the schemas that are there.
func versions(ctx context.Context, m *dump.Moment, schemas []schema.Schema, known []string) (map[string]int64, error) {
	all := map[string]int64{}
	schemas = slices.DeleteFunc(slices.Clone(schemas), func(s schema.Schema) bool { return !m.Has(s.Table) })
	for _, s := range schemas {
		var version int64
		if err := m.Conn.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+pgdb.Quoted(s.Table)+
			" WHERE is_applied").Scan(&version); err != nil {
			return nil, err
		}
		all[s.Table] = version
		tables, err := s.Tables()
		if err != nil {
			return nil, err
		}
		known = append(known, append(tables, s.Table)...)
	}
	if len(all) == 0 {
		return nil, errors.New("no server has kept anything in the database yet: there is nothing to back up")
	}
	for _, name := range m.Tables {
		if !slices.Contains(known, name) && further(schemas, name) == nil {
			return nil, fmt.Errorf("it has a table that this program does not make, and could not load again: move it away "+
				"(ALTER TABLE %s SET SCHEMA …), or back up with the holdfast that made it", pgdb.Quoted(name))
		}
	}
	return all, nil
}

// further returns the statements that make a table of one of the schemas which no step of it makes; none where there is
// no such table.
func further(schemas []schema.Schema, table string) []string {
	for _, s := range schemas {
		if s.Further == nil {
			continue
		}
		if statements := s.Further(table); statements != nil {
			return statements
		}
	}
	return nil
}

func writeTable(ctx context.Context, m *dump.Moment, w *dump.Writer, name string) error {
	t := dump.Table{Name: name, Last: map[string]int64{}}
	var names []string
	_, err := sqldb.All(sqldb.OnConn(ctx, m.Conn, m.Dialect), func(rows *sql.Rows) (c struct{}, err error) {
		var column string
		var numbers bool
		var last int64
		if err = rows.Scan(&column, &numbers, &last); numbers {
			t.Last[column] = last
		}
		t.Columns, names = append(t.Columns, dump.Column{Name: column}), append(names, column)
		return c, err
	}, `SELECT column_name, sequence IS NOT NULL, coalesce(pg_sequence_last_value(CAST(sequence AS regclass)), 0) FROM (
			SELECT column_name, ordinal_position, pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
			FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = ? AND is_generated = 'NEVER') columns
		ORDER BY ordinal_position`, name)
	if err != nil {
		return err
	}
	if err := w.Table(t); err != nil {
		return err
	}
	err = raw(m.Conn, func(c *pgconn.PgConn) error {
		_, err := c.CopyTo(ctx, pieces{w}, "COPY "+pgdb.Quoted(name)+" ("+list(names)+") TO STDOUT (FORMAT binary)")
		return err
	})
	if err != nil {
		return err
	}
	return w.WriteByte(0)
}

// raw hands out what is below a connection.
func raw(conn *sql.Conn, fn func(*pgconn.PgConn) error) error {
	return conn.Raw(func(driver any) error {
		c, ok := driver.(interface{ Conn() *pgx.Conn })
		if !ok {
			return fmt.Errorf("pgdump: the connection is a %T", driver)
		}
		return fn(c.Conn().PgConn())
	})
}

// pieces writes what it is given as pieces of a table.
type pieces struct{ to *dump.Writer }

// Write implements io.Writer.
func (p pieces) Write(piece []byte) (int, error) {
	if len(piece) == 0 {
		return 0, nil
	}
	var head [binary.MaxVarintLen64]byte
	if _, err := p.to.Write(head[:binary.PutUvarint(head[:], uint64(len(piece)))]); err != nil {
		return 0, err
	}
	return p.to.Write(piece)
}

package mysqldump

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Open fixes a moment of a database. Who would change one of the tables waits until it is closed.
func Open(ctx context.Context, o mysqldb.Options) (_ *dump.Moment, err error) {
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return nil, err
	}
	m := &dump.Moment{Dialect: sqldb.MySQL, DB: db}
	m.WriteTable = func(ctx context.Context, w *dump.Writer, name string) error { return writeTable(ctx, m, w, name) }
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read the database %v: %w", o, err), m.Close())
		}
	}()
	if err := o.Reach(ctx, db); err != nil {
		return nil, err
	}
	unlock, err := o.LockSchema(ctx, db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if m.Conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	for _, statement := range []string{
		// Who takes the dump may be slow.
		"SET SESSION wait_timeout = 86400, net_write_timeout = 3600",
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
	} {
		if _, err := m.Conn.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return m, dump.Fix(isAnother, func() error {
		_, err := m.Conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
		if err == nil {
			err = hold(ctx, m)
		}
		return err
	})
}

// definitionChanged is the server's number for a table that was made after the moment that is read.
const definitionChanged = 1412

// isAnother says of an error that a table is gone, or was made, since the moment was begun.
func isAnother(err error) bool {
	return mysqldb.IsNoTable(err) || mysqldb.Number(err) == definitionChanged
}

// hold looks into all tables. From then on none of them can become another one.
func hold(ctx context.Context, m *dump.Moment) (err error) {
	tx := sqldb.OnConn(ctx, m.Conn, m.Dialect)
	m.Tables, err = dump.Texts(tx, `SELECT table_name FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name`)
	for _, name := range m.Tables {
		if strings.HasPrefix(name, loading) {
			return fmt.Errorf("it has a table %s, of a load that did not end", name)
		}
		if _, err := dump.Texts(tx, "SELECT '' FROM "+mysqldb.Quoted(name)+" LIMIT 1"); err != nil {
			return err
		}
	}
	return err
}

func writeTable(ctx context.Context, m *dump.Moment, w *dump.Writer, name string) error {
	t := dump.Table{Name: name}
	var same string
	err := m.Conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+mysqldb.Quoted(name)).Scan(&same, &t.Create)
	if err != nil {
		return err
	}
	columns, err := columnsOf(ctx, m.Conn, name)
	if err != nil {
		return err
	}
	var list []string
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
		if c.time {
			list = append(list, "CAST("+mysqldb.Quoted(c.Name)+" AS CHAR)")
		} else {
			list = append(list, mysqldb.Quoted(c.Name))
		}
	}
	if err := w.Table(t); err != nil {
		return err
	}
	rows, err := m.Conn.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+mysqldb.Quoted(name))
	if err != nil {
		return err
	}
	defer rows.Close()
	values, into := make([]sql.RawBytes, len(list)), make([]any, len(list))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := writeRow(w, values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return w.WriteByte(0)
}

func writeRow(w *dump.Writer, values []sql.RawBytes) error {
	if err := w.WriteByte(1); err != nil {
		return err
	}
	for _, v := range values {
		length := uint64(0)
		if v != nil {
			length = uint64(len(v)) + 1
		}
		var head [binary.MaxVarintLen64]byte
		if _, err := w.Write(head[:binary.PutUvarint(head[:], length)]); err != nil {
			return err
		}
		if _, err := w.Write(v); err != nil {
			return err
		}
	}
	return nil
}

// column is one with how it is read.
type column struct {
	dump.Column
	time bool
}

func columnsOf(ctx context.Context, conn *sql.Conn, name string) (all []column, err error) {
	return sqldb.All(sqldb.OnConn(ctx, conn, sqldb.MySQL), func(rows *sql.Rows) (c column, err error) {
		var kind string
		err = rows.Scan(&c.Name, &kind)
		kind = strings.ToLower(kind)
		c.Binary = strings.HasSuffix(kind, "blob") || strings.HasSuffix(kind, "binary")
		c.time = slices.Contains([]string{"datetime", "timestamp", "date"}, kind)
		return c, err
	}, `SELECT column_name, data_type FROM information_schema.columns
		WHERE table_schema = DATABASE() AND table_name = ? AND ifnull(generation_expression, '') = ''
		ORDER BY ordinal_position`, name)
}

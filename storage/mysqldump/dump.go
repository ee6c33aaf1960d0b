package mysqldump

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// Dump is a moment of a database. The caller closes it.
type Dump struct {
	db    *sql.DB
	conn  *sql.Conn
	names []string // of the tables
}

// Open fixes the moment: all that is read is of it, whatever is written meanwhile. Who would change one of the tables
// waits until it is closed.
func Open(ctx context.Context, o mysqldb.Options) (_ *Dump, err error) {
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return nil, err
	}
	d := &Dump{db: db}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read the database %v: %w", o, err), d.Close())
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
	if d.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	for _, statement := range []string{
		// Who takes the dump may be slow.
		"SET SESSION wait_timeout = 86400, net_write_timeout = 3600",
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	} {
		if _, err := d.conn.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return d, d.hold(ctx)
}

// hold looks into all tables. From then on none of them can become another one.
func (d *Dump) hold(ctx context.Context) (err error) {
	d.names, err = texts(ctx, d.conn, `SELECT table_name FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name`)
	for _, name := range d.names {
		if strings.HasPrefix(name, loading) {
			return fmt.Errorf("it has a table %s, of a load that did not end", name)
		}
		if err == nil {
			_, err = texts(ctx, d.conn, "SELECT '' FROM "+mysqldb.Quoted(name)+" LIMIT 0")
		}
	}
	return err
}

// Close lets the moment go.
func (d *Dump) Close() error {
	if d.conn != nil {
		_, _ = d.conn.ExecContext(context.Background(), "ROLLBACK")
		_ = d.conn.Close()
	}
	return d.db.Close()
}

// Write writes all tables.
func (d *Dump) Write(ctx context.Context, to io.Writer) error {
	w := bufio.NewWriterSize(to, 64<<10)
	if _, err := w.WriteString(format); err != nil {
		return err
	}
	for _, name := range d.names {
		if err := d.table(ctx, w, name); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return w.Flush()
}

func (d *Dump) table(ctx context.Context, w *bufio.Writer, name string) error {
	t := table{Name: name}
	var same string
	err := d.conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+mysqldb.Quoted(name)).Scan(&same, &t.Create)
	if err != nil {
		return err
	}
	if t.Columns, err = d.columns(ctx, name); err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(t); err != nil {
		return err
	}
	var list []string
	for _, c := range t.Columns {
		if c.time {
			list = append(list, "CAST("+mysqldb.Quoted(c.Name)+" AS CHAR)")
		} else {
			list = append(list, mysqldb.Quoted(c.Name))
		}
	}
	rows, err := d.conn.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+mysqldb.Quoted(name))
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

func writeRow(w *bufio.Writer, values []sql.RawBytes) error {
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

func (d *Dump) columns(ctx context.Context, name string) (all []column, err error) {
	rows, err := d.conn.QueryContext(ctx, `SELECT column_name, data_type FROM information_schema.columns
		WHERE table_schema = DATABASE() AND table_name = ? AND ifnull(generation_expression, '') = ''
		ORDER BY ordinal_position`, name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		var kind string
		if err := rows.Scan(&c.Name, &kind); err != nil {
			return nil, err
		}
		kind = strings.ToLower(kind)
		c.Binary = strings.HasSuffix(kind, "blob") || strings.HasSuffix(kind, "binary")
		c.time = kind == "datetime" || kind == "timestamp" || kind == "date"
		all = append(all, c)
	}
	return all, rows.Err()
}

func texts(ctx context.Context, conn *sql.Conn, query string) (all []string, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

package mysqldump

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

const (
	// loading is before the names of tables that are being loaded. Nobody looks at such ones.
	loading = "restoring_"
	// batch is about how many bytes are inserted at once.
	batch = 1 << 20
	// maxValue is the longest value of a dump. It is what a LONGBLOB of ours could have at most.
	maxValue = 1 << 30
	// loadName is how long the name of a lock is that the server takes.
	loadName = 46
)

// Load makes the tables of a dump in a database that has none, and does the rest. They are all there at once, when all
// was loaded and done, or none is: what a load that was killed has left is removed by the next.
func Load(ctx context.Context, o mysqldb.Options, from io.Reader, rest dump.Rest) (err error) {
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := o.Reach(ctx, db); err != nil {
		return dump.CantReach(o, err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Rows of tables that are loaded may wait for the reader of the dump.
	if _, err := conn.ExecContext(ctx, "SET SESSION wait_timeout = 86400"); err != nil {
		return err
	}
	if err := alone(ctx, conn, o); err != nil {
		return err
	}
	if err := begin(ctx, conn, o, rest); err != nil {
		return err
	}
	l := loader{ctx: ctx, conn: conn}
	err = l.all(from)
	switch {
	case err == nil && rest.Do == nil:
		return l.settle()
	case err == nil:
		err = l.finish(rest)
	default:
		err = fmt.Errorf("load into the database %v: %w", o, err)
	}
	if err != nil && rest.Do != nil {
		err = errors.Join(err, l.undo(rest))
	}
	return err
}

// alone keeps other loads away until the connection ends. The server ends that of a load that was killed when its last
// statement is over: what is there by then is all that there will be of it.
func alone(ctx context.Context, conn *sql.Conn, o mysqldb.Options) error {
	var taken sql.NullInt64
	name := fmt.Sprintf("holdfast-load-%x", sha256.Sum256([]byte(o.Name)))[:loadName]
	err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, int(dump.LoadPatience.Seconds())).Scan(&taken)
	if err == nil && taken.Int64 != 1 {
		err = dump.UnderWay(o)
	}
	return err
}

type loader struct {
	ctx   context.Context
	conn  *sql.Conn
	from  *dump.Reader
	names []string
}

func (l *loader) all(from io.Reader) (err error) {
	if l.from, err = dump.NewReader(from, sqldb.MySQL); err != nil {
		return err
	}
	for {
		t, some, err := l.from.Next()
		if err != nil || !some {
			return err
		}
		if err := l.table(t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
}

func (l *loader) table(t dump.Table) error {
	create, ok := strings.CutPrefix(t.Create, "CREATE TABLE "+mysqldb.Quoted(t.Name)+" ")
	if !ok {
		return dump.ErrDamaged
	}
	if _, err := l.conn.ExecContext(l.ctx, "CREATE TABLE "+mysqldb.Quoted(loading+t.Name)+" "+create); err != nil {
		return err
	}
	l.names = append(l.names, t.Name)
	var names []string
	for _, c := range t.Columns {
		names = append(names, mysqldb.Quoted(c.Name))
	}
	insert := "INSERT INTO " + mysqldb.Quoted(loading+t.Name) + " (" + strings.Join(names, ", ") + ") VALUES "
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
	var values []any
	size := 0
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		rows := len(values) / len(names)
		_, err := l.conn.ExecContext(l.ctx, insert+strings.TrimSuffix(strings.Repeat(row+", ", rows), ", "), values...)
		values, size = nil, 0
		return err
	}
	for {
		more, err := l.from.ReadByte()
		switch {
		case err != nil:
			return errors.Join(dump.ErrDamaged, err)
		case more == 0:
			return flush()
		case more != 1:
			return dump.ErrDamaged
		}
		for _, c := range t.Columns {
			v, n, err := l.value(c)
			if err != nil {
				return err
			}
			values, size = append(values, v), size+n+16
		}
		if size >= batch || len(values) > 10_000 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
}

// value reads one; text is one, so that the server takes it for what the column has.
func (l *loader) value(c dump.Column) (any, int, error) {
	length, err := binary.ReadUvarint(l.from)
	if err != nil || length > maxValue {
		return nil, 0, errors.Join(dump.ErrDamaged, err)
	}
	if length == 0 {
		return nil, 0, nil
	}
	var text bytes.Buffer
	if _, err := io.CopyN(&text, l.from, int64(length-1)); err != nil {
		return nil, 0, errors.Join(dump.ErrDamaged, err)
	}
	if c.Binary {
		return text.Bytes(), text.Len(), nil
	}
	return text.String(), text.Len(), nil
}

// settle gives all tables their names, in one statement that is done whole or not at all, and does other renames
// before that.
func (l *loader) settle(renames ...string) error {
	for _, name := range l.names {
		renames = append(renames, mysqldb.Quoted(loading+name)+" TO "+mysqldb.Quoted(name))
	}
	_, err := l.conn.ExecContext(l.ctx, "RENAME TABLE "+strings.Join(renames, ", "))
	return err
}

// finish has the tables get their names with a mark, does the rest, and takes the mark away.
func (l *loader) finish(rest dump.Rest) error {
	there := slices.Contains(l.names, rest.Table)
	if err := markIn(l.ctx, l.conn, rest, mysqldb.Quoted(loading+rest.Table), there); err != nil {
		return err
	}
	if !there {
		l.names = append(l.names, rest.Table)
	}
	if err := l.settle(mysqldb.Quoted(rest.Table) + " TO " + begun(rest)); err != nil {
		return err
	}
	if _, err := l.conn.ExecContext(l.ctx, "DROP TABLE "+begun(rest)); err != nil {
		return err
	}
	return rest.Carry(l.ctx, l.conn, sqldb.MySQL)
}

// undo removes everything, so that a load that has failed leaves nothing.
func (l *loader) undo(rest dump.Rest) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), dump.UndoPatience)
	defer cancel()
	return clear(ctx, l.conn, rest, true)
}

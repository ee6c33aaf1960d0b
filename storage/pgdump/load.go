package pgdump

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Load makes the tables of a dump in a database that has none, by their schemas, with all rows, and does the rest. They
// are there all at once, in one transaction, when everything was loaded: where it ends before that there are none.
// Servers that start meanwhile wait. What a load that was killed after it, while it did the rest, has left is removed
// by the next.
func Load(ctx context.Context, o pgdb.Options, schemas []schema.Schema, from io.Reader, rest dump.Rest) (err error) {
	o.MaxOpenConns = 1
	db, err := o.Patient().Plain(pgdb.AsTexts, nil).Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := o.Check(ctx); err != nil {
		return dump.CantReach(o, err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // this frees the lock, too
	began := time.Now()
	if _, err := pgdb.Lock(ctx, conn, "load", func() error {
		if time.Since(began) > dump.LoadPatience {
			return dump.UnderWay(o)
		}
		return nil
	}); err != nil {
		return err
	}
	l := loader{ctx: ctx, conn: conn, o: o, tx: sqldb.OnConn(ctx, conn, sqldb.Postgres), schemas: schemas, rest: rest}
	if err := l.whole(func() error { return l.all(from) }); err != nil {
		return err
	}
	if rest.Do == nil {
		return nil
	}
	if err := rest.Carry(ctx, conn, sqldb.Postgres); err != nil {
		return errors.Join(err, l.undo())
	}
	return nil
}

type loader struct {
	ctx     context.Context
	conn    *sql.Conn
	o       pgdb.Options
	tx      sqldb.Tx
	schemas []schema.Schema
	rest    dump.Rest
}

// whole does something in one transaction, while nobody migrates the database.
func (l *loader) whole(do func() error) error {
	unlock, err := l.o.LockSchema(l.ctx, l.conn)
	if err != nil {
		return err
	}
	if _, err = l.tx.Exec("BEGIN"); err == nil {
		if err = do(); err == nil {
			_, err = l.tx.Exec("COMMIT")
		}
	}
	if err != nil {
		_, _ = l.conn.ExecContext(context.WithoutCancel(l.ctx), "ROLLBACK") // which the end of the connection does, too
		_ = unlock()
		return err
	}
	return unlock()
}

// all loads a dump into the database, which has to be empty, or to have what a load has left.
func (l *loader) all(from io.Reader) error {
	if err := l.begin(); err != nil {
		return err
	}
	if err := l.load(from); err != nil {
		return fmt.Errorf("load into the database %v: %w", l.o, err)
	}
	return nil
}

func (l *loader) begin() error {
	names, err := tables(l.tx)
	if err != nil || len(names) == 0 {
		return err
	}
	if l.rest.Marked != nil && slices.Contains(names, l.rest.Table) {
		unfinished, err := l.rest.Marked(l.tx)
		if err != nil {
			return err
		}
		if unfinished {
			return l.clear(names)
		}
	}
	return dump.NotEmpty(l.o, names[0])
}

func (l *loader) clear(names []string) error {
	_, err := l.tx.Exec("DROP TABLE " + list(names))
	return err
}

func (l *loader) load(from io.Reader) error {
	r, err := dump.NewReader(from, sqldb.Postgres)
	if err != nil {
		return err
	}
	if err := l.makeTables(r.Schemas); err != nil {
		return err
	}
	wanted, err := tables(l.tx)
	if err != nil {
		return err
	}
	// What the schemas' steps have put there is in the dump.
	if _, err := l.tx.Exec("TRUNCATE " + list(wanted)); err != nil {
		return err
	}
	marks := false
	var made []string // of the tables that no schema's step makes
	for {
		t, some, err := r.Next()
		if err != nil {
			return err
		}
		if !some {
			break
		}
		i := slices.Index(wanted, t.Name)
		switch {
		case i >= 0:
			wanted = slices.Delete(wanted, i, i+1)
		case t.Name == l.rest.Table && !marks:
			marks = true
			if err := l.makeMarks(); err != nil {
				return err
			}
		case !slices.Contains(made, t.Name) && further(l.schemas, t.Name) != nil:
			made = append(made, t.Name)
			for _, statement := range further(l.schemas, t.Name) {
				if _, err := l.tx.Exec(statement); err != nil {
					return fmt.Errorf("table %s: %w", t.Name, err)
				}
			}
		default:
			return fmt.Errorf("the backup has a table %s, which this program does not make: %w", t.Name, dump.ErrDamaged)
		}
		if err := l.table(r, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if len(wanted) > 0 {
		return fmt.Errorf("the backup has no table %s: %w", wanted[0], dump.ErrDamaged)
	}
	if l.rest.Do == nil {
		return nil
	}
	if !marks {
		if err := l.makeMarks(); err != nil {
			return err
		}
	}
	return l.rest.Mark(l.tx, pgdb.Quoted(l.rest.Table))
}

func (l *loader) makeMarks() error {
	_, err := l.tx.Exec("CREATE TABLE " + pgdb.Quoted(l.rest.Table) + " " + l.rest.Make)
	return err
}

// makeTables makes those of the schemas that a dump has, which are all that count from then on. They have to be as they
// were when it was written.
func (l *loader) makeTables(versions map[string]int64) error {
	for _, table := range slices.Sorted(maps.Keys(versions)) {
		i := slices.IndexFunc(l.schemas, func(s schema.Schema) bool { return s.Table == table })
		if i < 0 {
			return fmt.Errorf("the backup has a part that this program does not know (%s): load it with the holdfast that "+
				"made it", table)
		}
		newest, err := l.schemas[i].Newest()
		if err != nil {
			return err
		}
		if versions[table] != newest {
			return fmt.Errorf("the schema of the %s in the backup is at %d, and this program knows %d: load it with the "+
				"holdfast that made the backup, and start this one on it then", l.schemas[i].Of, versions[table], newest)
		}
		if err := l.schemas[i].Make(l.ctx, l.conn); err != nil {
			return err
		}
	}
	if len(versions) == 0 {
		return dump.ErrDamaged
	}
	l.schemas = slices.DeleteFunc(slices.Clone(l.schemas), func(s schema.Schema) bool {
		_, has := versions[s.Table]
		return !has
	})
	return nil
}

// copyEnded is the server's code for rows that the client has ended before all were there.
const copyEnded = "57014"

// table loads the rows of a table, and has those that are added later be numbered behind them.
func (l *loader) table(r *dump.Reader, t dump.Table) error {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	rows := &content{from: r}
	err := raw(l.conn, func(c *pgconn.PgConn) error {
		_, err := c.CopyFrom(l.ctx, rows, "COPY "+pgdb.Quoted(t.Name)+" ("+list(names)+") FROM STDIN (FORMAT binary)")
		return err
	})
	if pgdb.Code(err) == copyEnded && rows.err != nil {
		return rows.err // the server only repeats it
	}
	if err != nil {
		return err
	}
	if !rows.ended {
		return dump.ErrDamaged
	}
	for _, column := range slices.Sorted(maps.Keys(t.Last)) {
		if _, err := l.tx.Exec("SELECT setval(pg_get_serial_sequence(?, ?), greatest(n, 1), n > 0) FROM (SELECT "+
			"greatest(coalesce(max("+pgdb.Quoted(column)+"), 0), CAST(? AS BIGINT)) AS n FROM "+pgdb.Quoted(t.Name)+") highest",
			pgdb.Quoted(t.Name), column, t.Last[column]); err != nil {
			return err
		}
	}
	return nil
}

// undo removes everything, so that a load whose rest has failed leaves nothing.
func (l *loader) undo() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), dump.UndoPatience)
	defer cancel()
	u := *l
	u.ctx, u.tx = ctx, sqldb.OnConn(ctx, l.conn, sqldb.Postgres)
	return u.whole(func() error {
		names, err := tables(u.tx)
		if err != nil || len(names) == 0 {
			return err
		}
		return u.clear(names)
	})
}

// content reads the pieces of a table as what they were.
type content struct {
	from  *dump.Reader
	left  uint64 // of the piece
	ended bool
	err   error
}

// Read implements io.Reader.
func (c *content) Read(into []byte) (int, error) {
	if c.ended || len(into) == 0 {
		return 0, io.EOF
	}
	if c.left == 0 {
		if c.left, c.err = binary.ReadUvarint(c.from); c.err != nil {
			c.err = errors.Join(dump.ErrDamaged, c.err)
			return 0, c.err
		}
		if c.left == 0 {
			c.ended = true
			return 0, io.EOF
		}
	}
	n, err := c.from.Read(into[:min(c.left, uint64(len(into)))])
	c.left -= uint64(n)
	if err != nil {
		c.err = errors.Join(dump.ErrDamaged, err)
	}
	return n, c.err
}

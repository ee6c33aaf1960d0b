package mysqldump

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// begin refuses a database in which there is something, and removes what a load has left. Where something is to be done
// with the tables, the database has the mark from here on: who starts meanwhile waits, too.
func begin(ctx context.Context, conn *sql.Conn, o mysqldb.Options, rest Rest) error {
	unfinished := false
	var err error
	if rest.Marked != nil {
		if unfinished, err = rest.Marked(ctx, conn); err != nil {
			return err
		}
	}
	names, err := tables(ctx, conn)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !unfinished && !strings.HasPrefix(name, loading) {
			return fmt.Errorf("the database %v is not empty: it has a table %s; nothing was restored", o, name)
		}
	}
	if rest.Do == nil {
		return clear(ctx, conn, rest, true)
	}
	if err := clear(ctx, conn, rest, false); err != nil || unfinished {
		return err
	}
	return markFirst(ctx, conn, rest)
}

// begun is what the table of the mark is called before it has it, and once another takes its place.
func (r Rest) begun() string { return mysqldb.Quoted(loading + r.Table + "_begun") }

func markFirst(ctx context.Context, conn *sql.Conn, rest Rest) error {
	if err := rest.markIn(ctx, conn, rest.begun(), false); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "RENAME TABLE "+rest.begun()+" TO "+mysqldb.Quoted(rest.Table))
	return err
}

// markIn adds the mark to a table, which it makes unless it is there.
func (r Rest) markIn(ctx context.Context, conn *sql.Conn, table string, there bool) error {
	if !there {
		if _, err := conn.ExecContext(ctx, "CREATE TABLE "+table+" "+r.Make); err != nil {
			return err
		}
	}
	return r.Mark(ctx, conn, table)
}

func tables(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return texts(ctx, conn, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
}

// clear removes all tables. That of the mark goes last, since it says until then what all else is, or it stays.
func clear(ctx context.Context, conn *sql.Conn, rest Rest, marked bool) error {
	names, err := tables(ctx, conn)
	if err != nil {
		return err
	}
	if i := slices.Index(names, rest.Table); i >= 0 {
		names = slices.Delete(names, i, i+1)
		if marked {
			names = append(names, rest.Table)
		}
	}
	for _, name := range names {
		if _, err := conn.ExecContext(ctx, "DROP TABLE "+mysqldb.Quoted(name)); err != nil {
			return err
		}
	}
	return nil
}

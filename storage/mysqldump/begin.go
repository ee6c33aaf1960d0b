package mysqldump

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// begin refuses a database in which there is something, and removes what a load has left. Where something is to be done
// with the tables, the database has the mark from here on: who starts meanwhile waits, too.
func begin(ctx context.Context, conn *sql.Conn, o mysqldb.Options, rest dump.Rest) error {
	names, err := tables(ctx, conn)
	if err != nil {
		return err
	}
	unfinished := false
	if rest.Marked != nil && slices.Contains(names, rest.Table) {
		if unfinished, err = rest.Marked(sqldb.OnConn(ctx, conn, sqldb.MySQL)); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !unfinished && !strings.HasPrefix(name, loading) {
			return dump.NotEmpty(o, name)
		}
	}
	if rest.Do == nil {
		return clear(ctx, conn, rest, true)
	}
	if err := clear(ctx, conn, rest, false); err != nil || unfinished {
		return err
	}
	if err := markIn(ctx, conn, rest, begun(rest), false); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "RENAME TABLE "+begun(rest)+" TO "+mysqldb.Quoted(rest.Table))
	return err
}

// begun is what the table of the mark is called before it has it, and once another takes its place.
func begun(rest dump.Rest) string { return mysqldb.Quoted(loading + rest.Table + "_begun") }

// markIn adds the mark to a table, which it makes unless it is there.
func markIn(ctx context.Context, conn *sql.Conn, rest dump.Rest, table string, there bool) error {
	if !there {
		if _, err := conn.ExecContext(ctx, "CREATE TABLE "+table+" "+rest.Make); err != nil {
			return err
		}
	}
	return rest.Mark(sqldb.OnConn(ctx, conn, sqldb.MySQL), table)
}

func tables(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return dump.Texts(sqldb.OnConn(ctx, conn, sqldb.MySQL),
		"SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
}

// clear removes all tables. That of the mark goes last, since it says until then what all else is, or it stays.
func clear(ctx context.Context, conn *sql.Conn, rest dump.Rest, marked bool) error {
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

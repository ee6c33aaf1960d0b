package sqldb_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// column is one of a table's, as the database itself tells.
type column struct {
	name, kind string
	null       bool
}

// columnsOf asks the database for its tables, and the columns of each.
func columnsOf(t *testing.T, db *sqldb.DB) map[string][]column {
	t.Helper()
	query := `SELECT m.name, c.name, c.type, c."notnull" = 0 FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`
	if db.Dialect() != sqldb.SQLite {
		here := map[sqldb.Dialect]string{sqldb.MySQL: "database()", sqldb.Postgres: "current_schema()"}[db.Dialect()]
		query = `SELECT table_name, column_name, data_type, is_nullable = 'YES' FROM information_schema.columns
			WHERE table_schema = ` + here + ` ORDER BY table_name, ordinal_position`
	}
	all := map[string][]column{}
	err := db.Read(t.Context(), uuid.Nil, func(q sqldb.Querier) error {
		_, err := sqldb.All(q, func(rows *sql.Rows) (struct{}, error) {
			var table string
			var c column
			err := rows.Scan(&table, &c.name, &c.kind, &c.null)
			if !strings.HasPrefix(table, "sqlite_") && !strings.Contains(table, "goose") && !strings.Contains(table, "schema") {
				all[table] = append(all[table], c)
			}
			return struct{}{}, err
		}, query)
		return err
	})
	if err != nil || len(all) < 20 {
		t.Fatalf("%d tables, %v", len(all), err)
	}
	return all
}

// plant puts rows into every table that has a column for organizations, and pieces of blobs.
func plant(t *testing.T, db *sqldb.DB, org uuid.UUID, rows int) {
	t.Helper()
	for table, columns := range columnsOf(t, db) {
		if strings.HasPrefix(table, "auth_") {
			continue // of all organizations; sqlauth.Store.ShredUses forgets what is in them of one
		}
		if slices.Contains([]string{"node_turns", "notice_position", "outcomes"}, table) {
			continue // of nodes, and nobody's
		}
		n := rows
		if !slices.ContainsFunc(columns, func(c column) bool { return c.name == "org" }) && table != "blob_pieces" {
			t.Fatalf("the table %s has no column org: say how it is shredded", table)
		}
		if key := []string{"organizations", "organization_variables", "run_tallies", "run_changed"}; slices.Contains(key,
			table) {
			n = 1
		}
		for i := range n {
			var names []string
			var values []any
			for _, c := range columns {
				names, values = append(names, c.name), append(values, valueOf(table, c, org, i))
			}
			err := db.Write(t.Context(), org, func(tx sqldb.Tx) error {
				_, err := sqldb.Insert(tx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES ("+
					sqldb.Places(len(names))+")", values...)
				return err
			})
			if err != nil {
				t.Fatalf("%s: %v", table, err)
			}
		}
	}
}

// valueOf is a value that tells its organization, in all columns that can.
func valueOf(table string, c column, org uuid.UUID, i int) any {
	short := org.String()[:8]
	kind := strings.ToUpper(c.kind)
	switch {
	case c.name == "org":
		return org.String()
	case table == "blobs" && c.name == "id" || c.name == "blob_id":
		return fmt.Sprintf("%s%024d", short, i)
	case strings.Contains(kind, "INT"):
		return i + 1
	case kind == "BINARY":
		if table == "data_keys" {
			return []byte(short)
		}
		return []byte(fmt.Sprintf("%s%024d", short, i))
	case strings.Contains(kind, "BLOB") || kind == "VARBINARY" || kind == "BYTEA":
		return []byte(fmt.Sprintf("%s MARKER %d", short, i))
	}
	return fmt.Sprintf("%s %d", short, i)
}

// told returns all that the tables say of an organization: the rows that have its ID, or the
// beginning of it, anywhere.
func told(t *testing.T, db *sqldb.DB, org uuid.UUID) (all []string) {
	t.Helper()
	for table, columns := range columnsOf(t, db) {
		err := db.Read(t.Context(), uuid.Nil, func(q sqldb.Querier) error {
			rows, err := sqldb.All(q, func(rows *sql.Rows) (string, error) {
				cells := make([]any, len(columns))
				raw := make([]sql.RawBytes, len(columns))
				for i := range cells {
					cells[i] = &raw[i]
				}
				err := rows.Scan(cells...)
				return table + ": " + string(bytes.Join(toBytes(raw), []byte("|"))), err
			}, "SELECT * FROM "+table)
			for _, row := range rows {
				if strings.Contains(row, org.String()[:8]) {
					all = append(all, row)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	return all
}

func toBytes(raw []sql.RawBytes) [][]byte {
	all := make([][]byte, len(raw))
	for i := range raw {
		all[i] = raw[i]
	}
	return all
}

// TestShred destroys one organization of two of which each table has rows, in small pieces: no column
// of any table has anything of it then, and all of the other one is as it was.
func TestShred(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		gone, stays := uuid.New(), uuid.New()
		plant(t, db, gone, 12)
		plant(t, db, stays, 12)
		before := told(t, db, stays)
		if rows := told(t, db, gone); len(rows) < 200 || len(rows) != len(before) {
			t.Fatalf("the tables say %d things of one and %d of the other", len(rows), len(before))
		}
		for pieces := 0; ; pieces++ {
			n, err := db.Shred(t.Context(), gone, 5)
			if err != nil || n > 5 || pieces > 1000 {
				t.Fatalf("piece %d removed %d, %v", pieces, n, err)
			}
			keys := func(row string) bool { return strings.HasPrefix(row, "data_keys: ") }
			if left := told(t, db, gone); n > 0 && len(left) < len(before)-12 && slices.ContainsFunc(left, keys) {
				t.Fatal("others go before the keys of what is sealed")
			}
			if n == 0 {
				break
			}
		}
		if rows := told(t, db, gone); len(rows) > 0 {
			t.Errorf("%d rows are left, such as %q", len(rows), rows[0])
		}
		if after := told(t, db, stays); !slices.Equal(before, after) {
			t.Errorf("the other organization has %d rows, had %d", len(after), len(before))
		}
		for _, org := range []uuid.UUID{gone, uuid.New()} {
			if n, err := db.Shred(t.Context(), org, 5); n != 0 || err != nil {
				t.Errorf("again: %d, %v", n, err)
			}
		}
		if _, err := db.Shred(t.Context(), uuid.Nil, 5); err == nil {
			t.Error("the store's own rows were shredded")
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestShredLeavesNoBytes looks through the database's files.
func TestShredLeavesNoBytes(t *testing.T) {
	dir := t.TempDir()
	db := open(t, sqldb.Options{Path: filepath.Join(dir, "runs.db")})
	org := uuid.New()
	plant(t, db, org, 30)
	if sqlitetest.CountIn(t, dir, org.String()[:8]) == 0 {
		t.Fatal("there is nothing to find: the test shows nothing")
	}
	for n := 1; n > 0; {
		var err error
		if n, err = db.Shred(context.Background(), org, 50); err != nil {
			t.Fatal(err)
		}
	}
	if n := sqlitetest.CountIn(t, dir, org.String()[:8]); n > 0 {
		t.Errorf("the files have %d pieces of it", n)
	}
}

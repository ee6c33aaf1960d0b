package sqldb

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestEveryTableMovesOrNot: a table that a step of the schema adds is in one of the two lists.
func TestEveryTableMovesOrNot(t *testing.T) {
	db, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	known := ownTables()
	for _, table := range movedTables() {
		known = append(known, table.Name)
	}
	err = db.Ask(t.Context(), uuid.Nil, func(q Querier) error {
		_, err := All(q, func(rows *sql.Rows) (name string, err error) {
			err = rows.Scan(&name)
			if !slices.Contains(known, name) && !strings.HasPrefix(name, "sqlite_") && name != "goose_db_version" {
				t.Errorf("nobody says whether the rows of %s move", name)
			}
			return name, err
		}, "SELECT name FROM sqlite_schema WHERE type = 'table'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := db.Shapes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		if len(s.Key) == 0 {
			t.Errorf("%s has no key", s.Name)
		}
	}
}

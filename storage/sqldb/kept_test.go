package sqldb

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestKeptStatements: a text that comes again stays prepared; those that are as long as what is asked for don't, so
// that nobody's questions take the places or the memory of others'.
func TestKeptStatements(t *testing.T) {
	db, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "runs.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := db.engine.(*sqlite)
	ask := func(query string, args ...any) {
		t.Helper()
		err := db.Ask(t.Context(), uuid.New(), func(q Querier) error {
			var n int
			_, err := One(q, []any{&n}, query, args...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	before := len(e.asked.known)
	for range 3 {
		ask("SELECT 1 WHERE 1 = ?", 1)
	}
	for n := range 40 {
		ask("SELECT 1 WHERE 1 IN ("+Places(keptPlaces+1+n)+")", make([]any, keptPlaces+1+n)...)
		ask("SELECT 1 WHERE '' = '" + strings.Repeat("x", keptBytes+n) + "'")
	}
	if n := len(e.asked.known) - before; n != 1 {
		t.Errorf("%d more statements are kept", n)
	}
}

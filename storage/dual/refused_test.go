package dual

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// TestRealRefusal uploads, to a server that takes packets of a megabyte, what an upload may
// have and such a server never takes. CSV has it, and MySQL goes on with what comes behind.
func TestRealRefusal(t *testing.T) {
	mysqltest.New(t) // where no server can be had, this skips the test
	server, err := mysqltest.Start(t.Context(), "--max-allowed-packet=1M")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	d, dir, org := mysqltest.Database{Address: server.Address, Name: "holdfast"}, t.TempDir(), uuid.New()
	s := mustOpenReal(t, dir, inMySQL(d))
	for _, id := range []string{"before", "large", "after"} {
		batch := newBatch(org, id, 1)
		if id == "large" {
			batch.Resources[0].Attributes = fmt.Appendf(nil, `{"blob":%q}`, strings.Repeat("x", 1<<20))
		}
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatalf("Append of %s: %v", id, err)
		}
	}
	if !soon(func() bool { return s.Backlog()["mysql"] == 0 }) {
		t.Fatalf("still owed: %v", s.Backlog())
	}
	if refused := s.Refused(); refused["csv"] != 0 || refused["mysql"] != 1 {
		t.Errorf("the sides refused %v", refused)
	}
	if got := countsOf(t, s); got != [2]int64{3, 2} {
		t.Errorf("the sides have %v records", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// countsOf is how many records each side has.
func countsOf(t *testing.T, s *Store) (counts [2]int64) {
	t.Helper()
	for _, d := range s.sides {
		for org, err := range d.store.Organizations(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			groups, err := d.store.Summary(t.Context(), org)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				counts[d.name] += g.Count
			}
		}
	}
	return counts
}

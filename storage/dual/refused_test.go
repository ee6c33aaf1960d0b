package dual

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
)

// TestRealRefusal uploads, to a server that takes packets of a megabyte, what an upload may
// have and such a server never takes. CSV has it, MySQL goes on with what comes behind, and
// takes it at last when it is set up for more.
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
	s := mustOpenReal(t, dir, d)
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
	letters, err := s.DeadLetters(t.Context())
	if err != nil || len(letters) != 1 || letters[0].Side != "mysql" ||
		!strings.Contains(letters[0].Reason, "max_allowed_packet") {
		t.Fatalf("dead letters: %+v, %v", letters, err)
	}
	if got := countsOf(t, s); got != [2]int{3, 2} {
		t.Errorf("the sides have %v records", got)
	}
	if err := server.Exec(t.Context(), "", "SET GLOBAL max_allowed_packet = 16777216"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpenReal(t, dir, d)
	defer s.Close()
	if _, err := s.RetryDeadLetter(t.Context(), letters[0].Number); err != nil {
		t.Fatal(err)
	}
	if got := countsOf(t, s); got != [2]int{3, 3} {
		t.Errorf("the sides have %v records", got)
	}
	for c, err := range s.Compare(t.Context()) {
		if err != nil || c.Differ {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// countsOf is how many records each side has.
func countsOf(t *testing.T, s *Store) (counts [2]int) {
	t.Helper()
	for c, err := range s.Compare(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		counts[csv] += int(c.CSV.Records)
		counts[mysql] += int(c.MySQL.Records)
	}
	return counts
}

package states

import (
	"database/sql"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
)

// preparedOn is how many statements were prepared on the only connection of a pool.
func preparedOn(t *testing.T, pool *sql.DB) (n int) {
	t.Helper()
	var name string
	if err := pool.QueryRow("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The queries of each change and of each read are prepared once on a connection: no more, though
// they come again and again, and no fewer, for what is asked are the very texts that Open names.
func TestQueriesArePreparedOnce(t *testing.T) {
	s := opened(t, onMySQL.new(t).options())
	s.writers.SetMaxOpenConns(1)
	s.readers.SetMaxOpenConns(1)
	w := newWork(s, 1000, 1)
	for range 3 {
		if err := w.cycle(0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Head(t.Context(), w.refs[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Current(t.Context(), w.refs[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Version(t.Context(), w.refs[0], 1); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Newest(t.Context(), w.refs); err != nil {
			t.Fatal(err)
		}
	}
	if n := preparedOn(t, s.writers); n != 3 {
		t.Errorf("%d statements were prepared for changes, want head, room and lock", n)
	}
	if n := preparedOn(t, s.readers); n != 4 {
		t.Errorf("%d statements were prepared for reads, want head, current, version and newest", n)
	}
}

// TestServerPreparesNoMore: where others have used up what a server prepares, everything goes on unprepared.
func TestServerPreparesNoMore(t *testing.T) {
	suite.Deep(t)
	_, d := mysqltest.Private(t, "--max-prepared-stmt-count=0")
	s := open(t, mysqlOptions(d))
	w := newWork(s, 1000, 1)
	for range 2 {
		if err := w.cycle(0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Version(t.Context(), w.refs[0], 1); err != nil {
		t.Error(err)
	}
}

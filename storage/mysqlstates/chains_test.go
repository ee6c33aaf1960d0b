package mysqlstates

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
)

// TestTampered has somebody change the database while the store is open.
func TestTampered(t *testing.T) {
	suite.Deep(t)
	statetest.RunTampered(t, func(t *testing.T) statetest.Tampered {
		s := opened(t, optionsFor(mysqltest.New(t)))
		return statetest.Tampered{Store: s, Entries: "state_events", Links: "state_links", Chains: "state_chains",
			Checkpoints: "state_checkpoints",
			Exec:        func(t *testing.T, statement string) { execute(t, s, statement) }}
	})
}

func execute(t *testing.T, s *Store, statement string) {
	t.Helper()
	if _, err := s.readers.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// TestOldNodes has nodes of an older version, which know of no chains, add to the log: before the
// schema's step, and when this version's nodes write already.
func TestOldNodes(t *testing.T) {
	s := opened(t, optionsFor(mysqltest.New(t)))
	defer s.Close()
	org := uuid.UUID{1}
	record := func() {
		if err := s.Record(t.Context(), audit.Event{Org: org, Action: audit.StateWrite}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Feed(t.Context(), 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	want := func(checked, unchained int) {
		t.Helper()
		v, err := audit.Verify(t.Context(), s, org, audit.Check{Limit: 5000})
		if err != nil || len(v.Breaks) > 0 || v.Checked != checked || v.Unchained != unchained {
			t.Fatalf("%+v, %v; want %d and %d", v, err, checked, unchained)
		}
	}
	for range 3 {
		record()
	}
	for _, statement := range []string{"DELETE FROM state_links", "DELETE FROM state_chains",
		"UPDATE state_chained SET began = sequence"} { // as if it had been before
		execute(t, s, statement)
	}
	record()
	want(4, 3)
	const copied = `INSERT INTO state_events SELECT l.sequence + n.sequence, e.at, e.org, e.action, e.state, e.version, e.lock_id, e.refused,
		e.reason, e.note, e.` + "`key`" + `, e.key_name, e.subject, e.role, e.address, e.request
		FROM state_events e JOIN state_log l JOIN state_events n WHERE e.sequence = 1`
	events := 4
	for range 9 { // 2044 of them, which are chained in several steps
		execute(t, s, copied)
		execute(t, s, "UPDATE state_log SET sequence = (SELECT MAX(sequence) FROM state_events)")
		events *= 2
	}
	want(events, 3) // though nobody has written since
	record()
	want(events+1, 3)
	execute(t, s, copied)
	execute(t, s, "UPDATE state_log SET sequence = (SELECT MAX(sequence) FROM state_events)")
	if _, err := s.Feed(t.Context(), 0, 1); err != nil { // as who moves all to a folder
		t.Fatal(err)
	}
	wantNumber(t, s, int64(2*(events+1)-3), "SELECT COUNT(*) FROM state_links")
}

// TestSetBack has the store told that less of the log is chained than is: what has a link keeps it, and what
// was taken away stays so.
func TestSetBack(t *testing.T) {
	const sums = `SELECT SUM(CRC32(CONCAT(sequence, ' ', place, HEX(hash)))) FROM state_links`
	for _, c := range []struct {
		statements []string
		want       audit.Damage // none without one
	}{
		{nil, ""},
		{[]string{"UPDATE state_chained SET began = 9"}, ""},
		{[]string{"DELETE FROM state_links WHERE sequence = 7"}, audit.Added},
		{[]string{"DELETE FROM state_chains"}, audit.Missing},
	} {
		s := opened(t, optionsFor(mysqltest.New(t)))
		for range 20 {
			if err := s.Record(t.Context(), audit.Event{Org: uuid.UUID{1}, Action: audit.StateWrite}); err != nil {
				t.Fatal(err)
			}
		}
		verify := func() audit.Verdict {
			v, err := audit.Verify(t.Context(), s, uuid.UUID{1}, audit.Check{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		verify()
		for _, statement := range c.statements {
			execute(t, s, statement)
		}
		var sum int64
		if err := s.readers.QueryRowContext(t.Context(), sums).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		execute(t, s, "UPDATE state_chained SET sequence = 0")
		found := verify().Breaks
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) == 0 || found[0].Damage != c.want) {
			t.Errorf("%s: found %+v, want %q", c.statements, found, c.want)
		}
		wantNumber(t, s, sum, sums)
		wantNumber(t, s, 20, "SELECT sequence FROM state_chained")
		_ = s.Close()
	}
}

// TestLogLost says which table it is whose row is gone, and goes on when it is back.
func TestLogLost(t *testing.T) {
	for _, table := range []string{"state_chained", "state_log"} {
		s := opened(t, optionsFor(mysqltest.New(t)))
		execute(t, s, "CREATE TABLE kept AS SELECT * FROM "+table)
		execute(t, s, "DELETE FROM "+table)
		for range 2 {
			if err := s.Record(t.Context(), audit.Event{Org: uuid.UUID{1}, Action: audit.StateWrite}); err != nil {
				t.Fatal(err)
			}
			_, err := s.Feed(t.Context(), 0, 1)
			if !fault.Is(err, fault.StateCorrupt) || !strings.Contains(err.Error(), table) {
				t.Errorf("without the row of %s: %v", table, err)
			}
			if _, _, err := s.Chain(t.Context(), uuid.UUID{1}, 0, 1); !fault.Is(err, fault.StateCorrupt) {
				t.Errorf("without the row of %s: %v", table, err)
			}
		}
		execute(t, s, "INSERT INTO "+table+" SELECT * FROM kept")
		v, err := audit.Verify(t.Context(), s, uuid.UUID{1}, audit.Check{Limit: 9})
		if err != nil || len(v.Breaks) > 0 || v.Chain.Place != 2 {
			t.Errorf("with the row of %s: %+v, %v", table, v, err)
		}
		_ = s.Close()
	}
}

func wantNumber(t *testing.T, s *Store, want int64, query string) {
	t.Helper()
	var got int64
	if err := s.readers.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
		t.Errorf("%s: %d, %v; want %d", query, got, err, want)
	}
}

// TestComplete has a move bring what is not chained yet: it is chained then, unless nothing is.
func TestComplete(t *testing.T) {
	s := opened(t, optionsFor(mysqltest.New(t)))
	defer s.Close()
	for range 5 {
		if err := s.Record(t.Context(), audit.Event{Org: uuid.UUID{1}, Action: audit.StateWrite}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Feed(t.Context(), 0, 1); err != nil {
		t.Fatal(err)
	}
	for statement, want := range map[string]int64{
		"DELETE FROM state_links WHERE sequence > 3": 3,
		"UPDATE state_chained SET began = 4":         4,
		"DELETE FROM state_links":                    5,
	} {
		execute(t, s, "DELETE FROM state_links")
		execute(t, s, "INSERT INTO state_links SELECT sequence, sequence, '' FROM state_events")
		execute(t, s, "UPDATE state_chained SET began = 0, sequence = 0")
		if want == 4 {
			execute(t, s, "DELETE FROM state_links WHERE sequence > 1")
		}
		execute(t, s, statement)
		tx, err := s.readers.BeginTx(t.Context(), nil)
		if err == nil {
			err = errors.Join(Complete(tx), tx.Commit())
		}
		if err != nil {
			t.Fatal(err)
		}
		wantNumber(t, s, want, "SELECT sequence FROM state_chained")
	}
}

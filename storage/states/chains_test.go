package states

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state/statetest"
)

// TestTampered has somebody change the database while the store is open.
func TestTampered(t *testing.T) { onEach(t, testTampered) }

func testTampered(t *testing.T, on kind) {
	suite.Deep(t)
	statetest.RunTampered(t, func(t *testing.T) statetest.Tampered {
		s := opened(t, on.new(t).options())
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

// TestLogLost says that the log's row is gone, and goes on when it is back.
func TestLogLost(t *testing.T) { onEach(t, testLogLost) }

func testLogLost(t *testing.T, on kind) {
	for _, table := range []string{"state_log"} {
		s := opened(t, on.new(t).options())
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

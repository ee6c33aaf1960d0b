package sqlite

import (
	"database/sql"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
)

// TestTampered has somebody change the database while the store is open.
func TestTampered(t *testing.T) {
	suite.Deep(t)
	statetest.RunTampered(t, func(t *testing.T) statetest.Tampered {
		s := open(t, t.TempDir())
		db, err := sql.Open("sqlite", s.path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return statetest.Tampered{Store: s, Entries: "events", Links: "events", Chains: "chains",
			Checkpoints: "audit_checkpoints",
			Exec: func(t *testing.T, statement string) {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}}
	})
}

// TestChainReopened goes on with a chain where the store has left it.
func TestChainReopened(t *testing.T) {
	dir, org := t.TempDir(), uuid.UUID{1}
	for n := range uint64(4) {
		s := open(t, dir)
		if err := s.Record(t.Context(), audit.Event{Org: org, Action: audit.StateWrite}); err != nil {
			t.Fatal(err)
		}
		v, err := audit.Verify(t.Context(), s, org, audit.Check{Limit: 10})
		if err != nil || len(v.Breaks) > 0 || v.Chain.Place != n+1 || v.Checked != int(n+1) {
			t.Fatalf("%+v, %v", v, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChainShreddedTogether has an event, and a piece of the shredding that leaves the events, in one transaction.
func TestChainShreddedTogether(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	org := uuid.UUID{1}
	record := func() {
		if err := s.Record(t.Context(), audit.Event{Org: org, Action: audit.StateWrite}); err != nil {
			t.Error(err)
		}
	}
	record()
	mustPut(t, s, state.Ref{Org: org, Name: "one"}, []byte("{}"))
	before, commits, release := s.mustChain(t, org), s.writer.Commits(), hold(t, s)
	var both sync.WaitGroup
	both.Go(record)
	waitQueued(t, s, 1)
	both.Go(func() {
		if n, err := s.Shred(t.Context(), org, 1); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
	waitQueued(t, s, 2)
	release()
	both.Wait()
	if n := s.writer.Commits() - commits; n != 2 {
		t.Fatalf("%d commits, want that of the job that held the writer and one for both", n)
	}
	record()
	if after := s.mustChain(t, org); after.Place != before.Place+2 {
		t.Errorf("the chain is %+v, and was %+v", after, before)
	}
}

// mustChain verifies an organization's chain.
func (s *Store) mustChain(t *testing.T, org uuid.UUID) audit.Chain {
	t.Helper()
	v, err := audit.Verify(t.Context(), s, org, audit.Check{Limit: 100})
	if err != nil || len(v.Breaks) > 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	return v.Chain
}

package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal/sealtest"
)

// childPrunes names the variable with the folder of a child's store.
const childPrunes = "HOLDFAST_TEST_PRUNE_EVENTS_DIR"

func prunedOrg() uuid.UUID { return uuid.UUID{1} }

func prunedBefore() time.Time { return time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC) }

// pruneStep is a piece that the child was told of as removed.
type pruneStep struct{ Removed int }

// Outcome implements killtest.Told.
func (s pruneStep) Outcome() (acked bool, err error) { return true, nil }

func pruneAsChild() {
	killtest.Child(childPrunes, func(dir string) (*Store, error) {
		return Open(context.Background(), Options{Dir: dir, Master: sealtest.Master()})
	}, func(s *Store, _ uint64) {
		for {
			n, err := s.PruneEvents(context.Background(), prunedOrg(), prunedBefore(), 2, audit.Event{At: prunedBefore()})
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			killtest.Tell(pruneStep{n})
		}
	})
}

// TestPruneEventsKilled kills a process that removes old events. What was removed when it died is removed with its
// checkpoint and its entry, and the rest of the log is proven.
func TestPruneEventsKilled(t *testing.T) {
	suite.Deep(t)
	dir, random := t.TempDir(), rand.New(rand.NewPCG(killtest.Seed(t), 0))
	s := open(t, dir)
	const entries = 60
	for i := range entries {
		for _, org := range []uuid.UUID{prunedOrg(), {2}} {
			e := audit.Event{Org: org, At: prunedBefore().Add(-time.Hour), Action: audit.StateWrite, Note: fmt.Sprint(i)}
			if err := s.Record(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	removed := 0
	for round := 0; removed < entries; round++ {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, step := range killtest.Kill[pruneStep](t, childPrunes, dir, uint64(round), 1+random.IntN(4)) {
			removed += step.Removed
		}
		s = open(t, dir)
		v, err := audit.Verify(t.Context(), s, prunedOrg(), audit.Check{Limit: 1000})
		if err != nil || len(v.Breaks) > 0 {
			t.Fatalf("round %d: %+v, %v", round, v, err)
		}
		// At most the pieces that it has not told of are gone besides.
		gone := int(v.Chain.Removed.Place)
		if removals := int(v.Chain.Place) - entries; gone < removed || gone > entries || removals != (gone+1)/2 ||
			v.Checked != entries-gone+removals {
			t.Fatalf("round %d: %d of %d entries are gone, told were %d; %d removals", round, gone, entries, removed, removals)
		}
		removed = gone
		if other, err := audit.Verify(t.Context(), s, uuid.UUID{2}, audit.Check{Limit: 1000}); err != nil ||
			len(other.Breaks) > 0 || other.Checked != entries {
			t.Fatalf("the other's: %+v, %v", other, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPruneEventsTrims: what is left of removed events goes from the file too, once all before it are gone, and not
// before that.
func TestPruneEventsTrims(t *testing.T) {
	s := open(t, t.TempDir())
	for range 4 {
		for _, org := range []uuid.UUID{prunedOrg(), {2}} {
			e := audit.Event{Org: org, At: prunedBefore().Add(-time.Hour), Action: audit.StateWrite}
			if err := s.Record(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		org   uuid.UUID
		first uint64 // of the log that is left
	}{{prunedOrg(), 2}, {uuid.UUID{2}, 9}} {
		n, err := s.PruneEvents(t.Context(), step.org, prunedBefore(), 100, audit.Event{At: prunedBefore()})
		if n != 4 || err != nil {
			t.Fatalf("%d are removed, %v", n, err)
		}
		feed, err := s.Feed(t.Context(), 0, 100)
		if err != nil || feed[0].Sequence != step.first {
			t.Errorf("the log begins with %+v, %v; want %d", feed[0], err, step.first)
		}
	}
	for _, org := range []uuid.UUID{prunedOrg(), {2}} {
		v, err := audit.Verify(t.Context(), s, org, audit.Check{Limit: 100})
		if err != nil || len(v.Breaks) > 0 || v.Checked != 1 {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

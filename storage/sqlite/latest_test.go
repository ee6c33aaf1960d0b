package sqlite

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// record records n events in one transaction.
func record(t *testing.T, s *Store, n int) {
	t.Helper()
	err := s.transact(t.Context(), server(), func(w *session) error {
		for range n {
			if err := w.recordEvent(audit.Event{Org: uuid.UUID{1}, Action: audit.LockTake, At: w.now(),
				Reason: "\xff\x00"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantFeed wants so many events, the same from memory as from the database.
func wantFeed(t *testing.T, s *Store, n int) {
	t.Helper()
	last := max(n-2*keptEvents, 0)
	for _, after := range []int{0, last, n / 2, n - 2, n - 1, n, n + 1} {
		for _, limit := range []int{1, 2, n + 1} {
			got, err := s.Feed(t.Context(), uint64(max(after, 0)), limit)
			want, alike := list(t.Context(), s, server(), sqlFeed, []any{max(after, 0), limit}, stateengine.ScanEvent)
			if err != nil || alike != nil || !slices.Equal(got, want) {
				t.Fatalf("Feed of %d after %d has %d events, %v; want %d, %v", limit, after, len(got), err, len(want), alike)
			}
		}
	}
}

// TestLatest follows the log from memory, before and after much of it is let go there.
func TestLatest(t *testing.T) {
	suite.Deep(t)
	s, _ := opened(t)
	s.patient = time.Minute // it asks for more at once than anybody does
	recorded := 0
	for _, n := range []int{1, 2, 3*keptEvents - 4, 1, 10, keptEvents + 7} {
		record(t, s, n)
		recorded += n
		wantFeed(t, s, recorded)
		if kept := s.session.latest.after(uint64(recorded-min(recorded, keptEvents)), recorded); len(kept) != min(recorded,
			keptEvents) {
			t.Errorf("%d of %d events are in memory", len(kept), recorded)
		}
		if len(s.session.latest.events) >= 2*keptEvents {
			t.Errorf("%d events are in memory", len(s.session.latest.events))
		}
	}
}

// TestLatestUndone feeds nothing of a transaction that is undone, and what came instead.
func TestLatestUndone(t *testing.T) {
	s, _ := opened(t)
	record(t, s, 2)
	err := s.transact(t.Context(), server(), func(w *session) error {
		if err := w.recordEvent(audit.Event{Action: audit.LockForce}); err != nil {
			return err
		}
		return w.run("DELETE FROM nothing")
	})
	if err == nil {
		t.Fatal("the transaction was not undone")
	}
	wantFeed(t, s, 2)
	record(t, s, 2)
	wantFeed(t, s, 4)
}

// TestLatestGap misses events that got into the log unseen.
func TestLatestGap(t *testing.T) {
	s, _ := opened(t)
	record(t, s, 3)
	err := s.transact(t.Context(), server(), func(w *session) error {
		err := w.recordEvent(audit.Event{Action: audit.LockForce})
		w.recorded = nil
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	record(t, s, 2)
	wantFeed(t, s, 6)
}

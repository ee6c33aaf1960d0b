package statetest

import (
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// verifyAudit holds the audit log to what the crash left of a state: each version has its
// event and each event its version, what was taken was released or is held, and no lock
// that was released can be taken again.
func verifyAudit(t *testing.T, store state.Store, ref state.Ref, head state.Head) {
	t.Helper()
	seen := map[uint64]int{}
	takes := map[string]int{}
	q := audit.Query{State: string(ref.Name), Limit: 1000}
	for {
		page, err := store.Events(t.Context(), ref.Org, q)
		if err != nil {
			t.Fatalf("%v: Events: %v", ref, err)
		}
		for _, e := range page.Events {
			switch e.Action {
			case audit.StateWrite:
				seen[e.Version]++
			case audit.LockTake:
				takes[e.LockID]++
			case audit.LockRelease:
				takes[e.LockID]--
			}
		}
		if q.Before = page.Next; q.Before == 0 {
			break
		}
	}
	for n := uint64(1); n <= head.Version.Number; n++ {
		if seen[n] != 1 {
			t.Errorf("%v: version %d has %d events", ref, n, seen[n])
		}
	}
	if len(seen) != int(head.Version.Number) {
		t.Errorf("%v: there are events of %d versions, and %d versions", ref, len(seen), head.Version.Number)
	}
	verifyLocks(t, store, ref, head, takes)
}

// verifyLocks compares the locks that were taken more often than released with the holder.
func verifyLocks(t *testing.T, store state.Store, ref state.Ref, head state.Head, takes map[string]int) {
	t.Helper()
	tried := 0
	for id, n := range takes {
		if want := map[bool]int{true: 1}[id == holder(head.Lock)]; n != want {
			t.Errorf("%v: the lock %s was taken %d times more than released; the holder is %q", ref, id, n, holder(head.Lock))
		}
		if tried++; n == 0 && tried <= 20 {
			_, err := store.Update(t.Context(), ref, nil, always(state.Change{Release: true, Lock: newLock(t, id)}))
			suite.Fault(t, "the lock "+id+" again", err, fault.LockIDUsed)
		}
	}
}

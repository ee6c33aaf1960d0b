package state_test

import (
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// TestLockBehindADeletedFirstWrite: a run whose plan is of there being no state has written one, and somebody has
// deleted it since. What its plan creates is there already: it does not begin again.
func TestLockBehindADeletedFirstWrite(t *testing.T) {
	b := newBench(t, func(*state.Policy) {})
	first := b.applies("r", 1)
	lock := func(id string) error {
		_, err := b.Lock(t.Context(), first, "x", state.LockInfo{ID: id, Who: "agent"})
		return err
	}
	b.must(b.fence("r", 1, true), lock("a"), b.putAs(first, 1, "a"),
		b.Unlock(t.Context(), first, "x", state.LockInfo{ID: "a"}), lock("b"),
		b.Unlock(t.Context(), first, "x", state.LockInfo{ID: "b"}), b.Delete(t.Context(), b.owner, "x", ""))
	b.refuses(fault.RunStale, lock("c"))
	_, err := b.Undelete(t.Context(), b.owner, "x")
	b.must(err, lock("d"), b.Unlock(t.Context(), first, "x", state.LockInfo{ID: "d"}))
	b.must(b.Delete(t.Context(), b.owner, "x", ""), b.fence("s", 1, true))
	_, err = b.Lock(t.Context(), b.applies("s", 1), "x", state.LockInfo{ID: "e", Who: "agent"})
	b.must(err) // another run's plan is of what there is now
}

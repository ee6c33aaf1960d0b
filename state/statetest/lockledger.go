package statetest

import (
	"testing"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/state"
)

// certainty says whether something happened to a lock.
type certainty uint8

const (
	no certainty = iota
	maybe
	yes
)

// lockRecord is what is known of a lock from the calls that took and released it.
type lockRecord struct{ taken, released certainty }

// locksOf returns the locks that the calls have to do with. found has the digests of the
// versions that the store has: a final write that is there has released its lock, one
// that isn't has not, even if the kill came before its end.
func (a *account) locksOf(calls map[int64]event, found map[state.Digest]bool) map[string]lockRecord {
	locks := map[string]lockRecord{}
	if a.holder != "" {
		locks[a.holder] = lockRecord{taken: yes}
	}
	for _, e := range calls {
		happened := maybe
		switch {
		case e.Phase == killtest.Acked, e.writes() && found[e.Digest]:
			happened = yes
		case e.writes():
			happened = no
		}
		lock := locks[e.Lock]
		switch {
		case e.Kind == callLock:
			lock.taken = happened
		case e.releases():
			lock.released = happened
		default:
			continue
		}
		locks[e.Lock] = lock
	}
	return locks
}

// verifyHolder compares the store's holder with what is known.
func (a *account) verifyHolder(t *testing.T, ref state.Ref, got string, locks map[string]lockRecord) {
	t.Helper()
	for id, lock := range locks {
		if lock.taken == yes && lock.released == no && id != got {
			t.Errorf("%v: the lock %s was granted and never released, the store has %q", ref, id, got)
		}
	}
	if got == "" {
		return
	}
	if lock := locks[got]; lock.taken == no {
		t.Errorf("%v: the holder %s never asked for the lock", ref, got)
	} else if lock.released == yes {
		t.Errorf("%v: the holder %s was released", ref, got)
	}
}

// verifyReleased does the same for the lock that was released last.
func (a *account) verifyReleased(t *testing.T, ref state.Ref, got string, locks map[string]lockRecord) {
	t.Helper()
	for id, lock := range locks {
		if lock.released == yes && got == a.released {
			t.Errorf("%v: the lock %s was released, the store still has %q for the last one", ref, id, got)
		}
	}
	if got != a.released && locks[got].released == no {
		t.Errorf("%v: the store has %q for the last lock that was released, and nobody did that", ref, got)
	}
}

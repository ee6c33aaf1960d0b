package statetest

import (
	"crypto/sha256"
	"testing"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/state"
)

// ledger is what the store has to have, by all that the children told.
type ledger struct {
	states []*account
	writes int // acknowledged
}

// account is the ledger of one state.
type account struct {
	// versions are the digests of all versions up to the last kill. A write that was
	// under way then is in it if the store had it: from then on it must stay.
	versions []state.Digest
	holder   string
	released string
}

func newLedger() *ledger {
	l := &ledger{}
	for range tortured() {
		l.states = append(l.states, &account{})
	}
	return l
}

// verifyAll reads everything there is once more.
func (l *ledger) verifyAll(t *testing.T, store state.Store) {
	t.Helper()
	for i, ref := range tortured() {
		a := l.states[i]
		for n, digest := range a.versions {
			if got := readDigest(t, store, ref, uint64(n+1)); got != digest {
				t.Errorf("%v: version %d has the digest %s, want %s", ref, n+1, got, digest)
			}
		}
		a.verify(t, store, ref, nil)
	}
}

// readDigest reads a version and returns the digest of its bytes.
func readDigest(t *testing.T, store state.Store, ref state.Ref, number uint64) state.Digest {
	t.Helper()
	got, err := store.Version(t.Context(), ref, number)
	if err != nil {
		t.Fatalf("%v: version %d: %v", ref, number, err)
	}
	digest := state.Digest(sha256.Sum256(got.Body))
	if digest != got.Digest || got.Number != number || got.Size != int64(len(got.Body)) {
		t.Fatalf("%v: version %d does not describe its own bytes: %+v", ref, number, got.Version)
	}
	return digest
}

// callsOf returns the calls on a state, each with the furthest it got. Refused ones are
// left out.
func callsOf(events []event, i int) map[int64]event {
	calls := map[int64]event{}
	for _, e := range events {
		switch {
		case e.State != i || e.Phase == killtest.Failed:
		case e.Phase == killtest.Refused:
			delete(calls, e.Call)
		default:
			calls[e.Call] = e
		}
	}
	return calls
}

// verify compares the state with the calls since the last look, and enters what it finds.
func (a *account) verify(t *testing.T, store state.Store, ref state.Ref, calls map[int64]event) {
	t.Helper()
	head, err := store.Head(t.Context(), ref)
	if err != nil {
		t.Fatalf("%v: Head: %v", ref, err)
	}
	if head.Deleted {
		t.Errorf("%v is deleted, and nobody did that", ref)
	}
	found := a.verifyVersions(t, store, ref, head.Version.Number, calls)
	locks := a.locksOf(calls, found)
	a.verifyHolder(t, ref, holder(head.Lock), locks)
	a.verifyReleased(t, ref, head.ReleasedID, locks)
	verifyAudit(t, store, ref, head)
	a.holder, a.released = holder(head.Lock), head.ReleasedID
}

// verifyVersions looks at the versions since the last look: each is the acknowledged one,
// or one whose write was under way. It returns their digests.
func (a *account) verifyVersions(t *testing.T, store state.Store, ref state.Ref, newest uint64,
	calls map[int64]event) map[state.Digest]bool {
	t.Helper()
	told, open := map[uint64]state.Digest{}, map[state.Digest]bool{}
	for _, e := range calls {
		switch {
		case !e.writes():
		case e.Phase == killtest.Begun:
			open[e.Digest] = true
		case e.Number <= uint64(len(a.versions)) || told[e.Number] != state.Digest{}:
			t.Errorf("%v: version %d was given away twice", ref, e.Number)
		case e.Number > newest:
			t.Errorf("%v: version %d was acknowledged and is lost; the newest is %d", ref, e.Number, newest)
		default:
			told[e.Number] = e.Digest
		}
	}
	if newest < uint64(len(a.versions)) {
		t.Fatalf("%v: the newest version is %d, it was %d before", ref, newest, len(a.versions))
	}
	found := map[state.Digest]bool{}
	for n := uint64(len(a.versions)) + 1; n <= newest; n++ {
		digest := readDigest(t, store, ref, n)
		if want, ok := told[n]; ok && digest != want {
			t.Errorf("%v: version %d has the digest %s, acknowledged was %s", ref, n, digest, want)
		} else if !ok && !open[digest] {
			t.Errorf("%v: version %d was neither acknowledged nor under way", ref, n)
		}
		delete(open, digest)
		found[digest] = true
		a.versions = append(a.versions, digest)
	}
	return found
}

package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkPurge destroys versions, old ones and the newest, and goes on with the state.
func checkPurge(t *testing.T, store state.Store) {
	ref := newRef("purged")
	var all []state.Snapshot
	for i := range uint64(4) {
		body := stateBody(i, "secret")
		all = append(all, state.Snapshot{Version: put(t, store, ref, body).Version, Body: body})
	}
	twin, other := candidate("twin", all[1].Body), candidate("other", stateBody(9, ""))
	update(t, store, ref, all[1].Body, always(state.Change{Candidate: twin}))
	update(t, store, ref, stateBody(9, ""), always(state.Change{Candidate: other}))
	wantPurged := func(number uint64) {
		t.Helper()
		got, err := store.Version(t.Context(), ref, number)
		suite.Fault(t, "Version", err, fault.VersionPurged)
		suite.Equal(t, "Version beside an error", state.Snapshot{}, got)
	}
	for range 2 { // again is fine
		purge(t, store, ref, 2)
		wantPurged(2)
		wantCurrent(t, store, ref, all[3])
	}
	twin.Status, twin.Decided = state.Discarded, noon()
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: *twin})
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: *other, Body: stateBody(9, "")})
	purge(t, store, ref, 4)
	wantPurged(4)
	_, err := store.Current(t.Context(), ref)
	suite.Fault(t, "Current", err, fault.VersionPurged)
	head := state.Head{Version: all[3].Version}
	head.Version.Purged = true
	wantHead(t, store, ref, head)
	suite.Fault(t, "Purge of none", store.Purge(t.Context(), ref, 5, happened("no")), fault.StateNotFound)
	suite.Fault(t, "Purge of none", store.Purge(t.Context(), newRef("purged"), 1, happened("no")), fault.StateNotFound)
	for _, e := range wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 3) {
		if e.State != string(ref.Name) || e.Note != "purge" {
			t.Errorf("the event is %+v", e)
		}
	}
	put(t, store, ref, stateBody(5, ""))
	wantVersion(t, store, ref, all[0])
	wantVersion(t, store, ref, all[2])
}

// checkPurgeReads purges newest versions under readers: what begins after a Purge has
// returned never sees the bytes.
func checkPurgeReads(t *testing.T, store state.Store) {
	p := &purgeReads{store: store, ref: newRef("leak"), answered: make(chan struct{})}
	const readers = 3
	suite.Together(t, readers+1, func(ctx context.Context, worker int) error {
		if worker == 0 {
			defer p.done.Store(true)
			return p.write(ctx, readers)
		}
		return p.read(ctx)
	})
}

// purgeReads is one writer and several readers of a state.
type purgeReads struct {
	store     state.Store
	ref       state.Ref
	destroyed atomic.Uint64 // versions up to this one are purged
	answered  chan struct{} // a read, when the writer waits for one
	done      atomic.Bool
}

func (p *purgeReads) read(ctx context.Context) error {
	for !p.done.Load() && ctx.Err() == nil {
		floor := p.destroyed.Load()
		got, err := p.store.Current(ctx, p.ref)
		if err == nil && got.Number <= floor {
			return fmt.Errorf("version %d was read after it was purged", got.Number)
		}
		if err != nil && !fault.Is(err, fault.VersionPurged) && !fault.Is(err, fault.StateNotFound) {
			return err
		}
		select {
		case p.answered <- struct{}{}:
		default:
		}
	}
	return nil
}

// write purges every other version at once, and the rest when readers have seen it.
func (p *purgeReads) write(ctx context.Context, readers int) error {
	for i := range uint64(12) {
		body := stateBody(i, "secret")
		head, err := p.store.Update(ctx, p.ref, body, accept(describe(body)))
		if err != nil {
			return err
		}
		if i%2 == 1 {
			p.awaitRead(ctx, readers)
		}
		if err := p.store.Purge(ctx, p.ref, head.Version.Number, happened("purge")); err != nil {
			return err
		}
		p.destroyed.Store(head.Version.Number)
		p.awaitRead(ctx, readers)
	}
	return nil
}

// awaitRead returns when one of the readers, at least, has begun a read since, and ended it.
func (p *purgeReads) awaitRead(ctx context.Context, readers int) {
	for range readers + 1 {
		select {
		case <-p.answered:
		case <-ctx.Done():
		}
	}
}

// checkPrune removes versions by number, by time and by both, in pieces.
func checkPrune(t *testing.T, store state.Store) {
	for name, c := range map[string]struct {
		p    state.Pruning
		left uint64 // the oldest one that stays
	}{
		"nothing":  {state.Pruning{}, 1},
		"below":    {state.Pruning{Below: 4}, 4},
		"before":   {state.Pruning{Before: noon().Add(3 * time.Hour)}, 4},
		"either":   {state.Pruning{Below: 3, Before: noon().Add(4 * time.Hour)}, 5},
		"all":      {state.Pruning{Below: 100, Before: noon().Add(100 * time.Hour)}, 6},
		"largest":  {state.Pruning{Below: 1<<64 - 1}, 6},
		"too soon": {state.Pruning{Before: noon()}, 1},
	} {
		for _, deleted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", deleted), func(t *testing.T) { tryPrune(t, store, c.p, c.left, deleted) })
		}
	}
}

// tryPrune prunes six versions that were written an hour apart, from noon on.
func tryPrune(t *testing.T, store state.Store, p state.Pruning, left uint64, deleted bool) {
	ref := newRef("pruned")
	var all []state.Snapshot
	for i := range 6 {
		body := stateBody(uint64(i), "")
		v := describe(body)
		v.CreatedAt = noon().Add(time.Duration(i) * time.Hour)
		all = append(all, state.Snapshot{Version: update(t, store, ref, body, accept(v)).Version, Body: body})
	}
	neighbour := newRef("pruned")
	put(t, store, neighbour, stateBody(1, ""))
	if deleted {
		update(t, store, ref, nil, always(state.Change{Delete: true}))
	}
	head, err := store.Head(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	p.Limit = 2
	for gone := uint64(0); ; {
		n, err := store.Prune(t.Context(), ref, p, happened(""))
		if err != nil || n != int(min(left-1-gone, 2)) {
			t.Fatalf("Prune removed %d after %d, %v", n, gone, err)
		}
		if gone += uint64(n); n < 2 {
			break
		}
	}
	wantHead(t, store, ref, head)
	for _, v := range all {
		if v.Number >= left {
			wantVersion(t, store, ref, v)
			continue
		}
		_, err := store.Version(t.Context(), ref, v.Number)
		suite.Fault(t, "a pruned Version", err, fault.StateNotFound)
	}
	wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, int(left)/2) // one for each piece
	if got, err := listEvents(t.Context(), store, ref.Org, audit.Query{Limit: 1}); err != nil || len(got) == 1 &&
		got[0].Note == "" {
		t.Errorf("the event has no note of how many: %+v, %v", got, err)
	}
	if number := put(t, store, ref, stateBody(9, "")).Version.Number; number != 7 {
		t.Errorf("the next version has the number %d", number)
	}
}

// expunge expunges in the smallest pieces until the store says that it is done.
func expunge(t *testing.T, store state.Store, ref state.Ref, before time.Time) {
	t.Helper()
	for range 100 {
		done, err := store.Expunge(t.Context(), ref, before, 1, happened("expunge"))
		if err != nil {
			t.Fatalf("Expunge: %v", err)
		}
		if done {
			return
		}
	}
	t.Fatal("Expunge is never done")
}

// doomedState is a state with all that there can be and that waits for nobody, deleted at
// noon.
func doomedState(t *testing.T, store state.Store) state.Ref {
	t.Helper()
	ref := newRef("doomed")
	for i := range uint64(4) {
		put(t, store, ref, stateBody(i, ""))
	}
	body := stateBody(9, "candidate")
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "old")}))
	update(t, store, ref, nil, always(state.Change{Release: true, At: noon(), Events: events("release")}))
	update(t, store, ref, body, always(state.Change{Candidate: candidate("c", body)}))
	update(t, store, ref, nil, always(state.Change{Settle: settle("c", state.Discarded)}))
	update(t, store, ref, nil, always(state.Change{Delete: true, At: noon()}))
	return ref
}

// wantUnlisted holds the store to listing, of all states, none of these.
func wantUnlisted(t *testing.T, store state.Store, unwanted func(state.Located) bool) {
	t.Helper()
	for after := (state.Ref{}); ; {
		page, err := store.All(t.Context(), after, 50)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			if unwanted(one) {
				t.Fatalf("All has %v with %+v", one.Ref, one.Head)
			}
		}
		after = page[len(page)-1].Ref
	}
}

// wantForgotten holds the store to knowing no more of ref than its events, and to taking
// it for a new state.
func wantForgotten(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	wantUnlisted(t, store, func(one state.Located) bool { return one.Ref.Org == ref.Org || one.Head.Version.Number == 0 })
	wantLost(t, store, ref)
}

// wantLost holds the store to knowing nothing of ref by itself.
func wantLost(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	wantStranger(t, store, ref)
	wantVersions(t, store, ref, 0, 9, nil)
	wantCandidates(t, store, ref, 9)
	_, err := store.Candidate(t.Context(), ref, "c")
	suite.Fault(t, "Candidate", err, fault.CandidateNotFound)
	wantNames(t, store, ref.Org, state.StatesQuery{Limit: 9, Deleted: state.AnyDeletion}, nil)
	wantNames(t, store, ref.Org, state.StatesQuery{Limit: 9, Locked: true}, nil)
	gone := errors.New("gone")
	_, err = store.Update(t.Context(), ref, nil, func(h state.Head) (state.Change, error) {
		if h != (state.Head{}) {
			return state.Change{}, fmt.Errorf("the decision sees %+v", h)
		}
		return state.Change{}, gone
	})
	if !errors.Is(err, gone) {
		t.Error(err)
	}
}

// checkExpunge removes a deleted state, whole and with a new one of its name in between.
func checkExpunge(t *testing.T, store state.Store) {
	for _, between := range []bool{false, true} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			ref, neighbour, body := doomedState(t, store), newRef("neighbour"), stateBody(1, "new")
			head := put(t, store, neighbour, body)
			if done, err := store.Expunge(t.Context(), ref, noon(), 1, happened("expunge")); err != nil {
				t.Fatal(done, err)
			}
			wantForgotten(t, store, ref)
			if between {
				update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "old")})) // a new state's first
				if number := put(t, store, ref, body).Version.Number; number != 1 {
					t.Errorf("the new state begins with version %d", number)
				}
			}
			expunge(t, store, ref, noon().Add(time.Hour))
			expunge(t, store, state.Ref{}, time.Time{}) // nothing is left
			if between {
				current, err := store.Current(t.Context(), ref)
				if err != nil || !bytes.Equal(current.Body, body) {
					t.Errorf("the new state: %+v, %v", current.Version, err)
				}
			} else {
				wantForgotten(t, store, ref)
			}
			wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 2)
			wantCurrent(t, store, neighbour, state.Snapshot{Version: head.Version, Body: body})
		})
	}
}

// checkExpungeKeeps leaves what is not to go: too young, locked, undeleted, or unknown.
func checkExpungeKeeps(t *testing.T, store state.Store) {
	keep := func(ref state.Ref, before time.Time) {
		t.Helper()
		head, err := store.Head(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		done, err := store.Expunge(t.Context(), ref, before, 9, happened("expunge"))
		if !done || err != nil {
			t.Errorf("Expunge: %v, %v", done, err)
		}
		wantHead(t, store, ref, head)
	}
	later := noon().Add(time.Hour)
	young := doomedState(t, store)
	keep(young, noon().Add(-time.Microsecond))
	update(t, store, young, nil, always(state.Change{Lock: newLock(t, "holder")}))
	keep(young, later)
	update(t, store, young, nil, always(state.Change{Release: true}))
	head := update(t, store, young, nil, always(state.Change{Undelete: true}))
	if head.Deleted || !head.DeletedAt.IsZero() || !head.Undeleted {
		t.Errorf("undeleted: %+v", head)
	}
	keep(young, later)
	wantCurrent(t, store, young, state.Snapshot{Version: head.Version, Body: stateBody(3, "")})
	keep(newRef("unknown"), later)
	wantEvents(t, store, young.Org, audit.Query{Limit: 9}, 1) // the release
}

// checkLockIDs wants no ID to hold a lock twice, however long ago it was released.
func checkLockIDs(t *testing.T, store state.Store) {
	ref := newRef("ids")
	take := func(change state.Change, id string) error {
		change.Lock, change.Events = newLock(t, "x"), events("take")
		change.Lock.Info.ID = id // one that no client's JSON has, perhaps
		_, err := store.Update(t.Context(), ref, nil, always(change))
		return err
	}
	ids := []string{"a", "b", "B", "c\x00", "c", "é"}
	for _, id := range ids {
		if err := take(state.Change{}, id); err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		update(t, store, ref, nil, always(state.Change{Release: true}))
	}
	before := put(t, store, ref, stateBody(1, ""))
	for _, id := range ids {
		suite.Fault(t, id, take(state.Change{}, id), fault.LockIDUsed)
		v := describe(nil)
		v.Number = 2
		suite.Fault(t, id, take(state.Change{Version: &v}, id), fault.LockIDUsed)
		wantHead(t, store, ref, before)
	}
	if err := take(state.Change{}, "d"); err != nil {
		t.Fatal(err)
	}
	suite.Fault(t, "the ID that is released by the same change", take(state.Change{Release: true}, "d"), fault.LockIDUsed)
	if err := take(state.Change{Release: true}, "e"); err != nil { // a takeover
		t.Fatal(err)
	}
	update(t, store, ref, nil, always(state.Change{Release: true, Delete: true}))
	for _, id := range []string{"d", "e"} {
		suite.Fault(t, id, take(state.Change{}, id), fault.LockIDUsed)
	}
	if _, err := store.Update(t.Context(), newRef("ids"), nil, always(state.Change{Lock: newLock(t, "a")})); err != nil {
		t.Errorf("the ID in another organization: %v", err)
	}
	wantEvents(t, store, ref.Org, audit.Query{Limit: 99}, len(ids)+2)
}

// checkSeen follows a lock's signs of life, and a deletion's time.
func checkSeen(t *testing.T, store state.Store) {
	ref := newRef("seen")
	lock := newLock(t, "seen")
	lock.Seen = noon()
	head := update(t, store, ref, nil, always(state.Change{Lock: lock}))
	suite.Equal(t, "the lock", lock, head.Lock)
	later := noon().Add(time.Hour + time.Nanosecond)
	head = update(t, store, ref, stateBody(1, ""), func(h state.Head) (state.Change, error) {
		change, err := accept(describe(stateBody(1, "")))(h)
		change.At, change.Seen = later, true
		return change, err
	})
	if !head.Lock.Seen.Equal(noon().Add(time.Hour)) || !head.Lock.Since.Equal(lock.Since) {
		t.Errorf("the lock was seen at %v, taken at %v", head.Lock.Seen, head.Lock.Since)
	}
	head = update(t, store, ref, nil, always(state.Change{At: later, Delete: true}))
	if !head.DeletedAt.Equal(noon().Add(time.Hour)) {
		t.Errorf("deleted at %v", head.DeletedAt)
	}
	update(t, store, ref, nil, always(state.Change{At: later, Release: true, Seen: true}))
	update(t, store, ref, nil, always(state.Change{Undelete: true}))
	body := stateBody(1, "")
	current, err := store.Current(t.Context(), ref)
	if err != nil || !bytes.Equal(current.Body, body) {
		t.Errorf("undeleted: %+v, %v", current.Version, err)
	}
	wantHead(t, store, newRef("unseen"), update(t, store, newRef("unseen"), nil, always(state.Change{Seen: true})))
}

package statetest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// neighbour is an organization with a state of each kind, and what the store says of it.
type neighbour struct {
	org  uuid.UUID
	refs []state.Ref
}

// newNeighbour makes an organization that has all that there can be.
func newNeighbour(t *testing.T, store state.Store) neighbour {
	t.Helper()
	n := neighbour{org: uuid.New()}
	ref := func(name state.Name) state.Ref {
		n.refs = append(n.refs, state.Ref{Org: n.org, Name: name})
		return n.refs[len(n.refs)-1]
	}
	n.fill(t, store, ref("rich"))
	put(t, store, ref("alone"), stateBody(1, "alone"))
	update(t, store, ref("held"), nil, always(state.Change{Lock: newLock(t, "held"), At: noon(), Events: events("take")}))
	body := stateBody(2, "first")
	update(t, store, ref("brought"), body, always(state.Change{Candidate: candidate("c", body)}))
	announced := ref("announced")
	put(t, store, announced, stateBody(2, "announced"))
	update(t, store, announced, nil, expect(expected("it moves")))
	deleted := ref("deleted")
	put(t, store, deleted, stateBody(3, "deleted"))
	update(t, store, deleted, nil, expect(expected("it went")))
	update(t, store, deleted, nil, always(state.Change{Delete: true, At: noon()}))
	begun := ref("begun") // somebody has begun to expunge it
	for i := range uint64(3) {
		put(t, store, begun, stateBody(i, "begun"))
	}
	update(t, store, begun, nil, always(state.Change{Delete: true, At: noon()}))
	if _, err := store.Expunge(t.Context(), begun, noon(), 1, happened("expunge")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		refused := happened("refused")
		refused.Org = n.org
		if err := store.Record(t.Context(), refused); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// fill gives a state versions, one of which is purged, a lock, used lock IDs, candidates and a fence.
func (n neighbour) fill(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	for i := range uint64(6) {
		put(t, store, ref, stateBody(i, "rich"))
	}
	purge(t, store, ref, 2)
	for _, id := range []string{"a", "b", "c"} {
		update(t, store, ref, nil, always(state.Change{Lock: newLock(t, id)}))
		update(t, store, ref, nil, always(state.Change{Release: true}))
	}
	update(t, store, ref, nil,
		always(state.Change{Lock: newLock(t, "now"), Fence: &state.Fence{Run: "run", Epoch: 3, Open: true}}))
	for _, id := range []string{"one", "two", "three"} {
		body := stateBody(9, id)
		update(t, store, ref, body, always(state.Change{Candidate: candidate(id, body)}))
	}
	update(t, store, ref, nil, always(state.Change{Settle: settle("two", state.Discarded)}))
}

// seen is all that a store says of an organization.
type seen struct {
	Heads      []state.Head
	Current    []state.Snapshot
	Errors     []string
	Versions   [][]state.Version
	Bodies     []state.Snapshot
	Candidates []state.CandidateBody
	States     []state.Page
	Events     []audit.Event
	Usage      int64
}

// What newNeighbour makes that Totals counts.
const (
	readableStates = 3
	heldLocks      = 2
)

func (n neighbour) look(t *testing.T, store state.Store) (s seen) {
	t.Helper()
	note := func(err error) {
		if err != nil {
			s.Errors = append(s.Errors, err.Error())
		}
	}
	for _, ref := range n.refs {
		head, err := store.Head(t.Context(), ref)
		note(err)
		current, err := store.Current(t.Context(), ref)
		note(err)
		versions, err := store.Versions(t.Context(), ref, 0, 99)
		note(err)
		for _, v := range versions {
			body, err := store.Version(t.Context(), ref, v.Number)
			note(err)
			s.Bodies = append(s.Bodies, body)
		}
		candidates, err := store.Candidates(t.Context(), ref, "", 99)
		note(err)
		for _, c := range candidates {
			body, err := store.Candidate(t.Context(), ref, c.ID)
			note(err)
			s.Candidates = append(s.Candidates, body)
		}
		s.Heads, s.Current, s.Versions = append(s.Heads, head), append(s.Current, current), append(s.Versions, versions)
	}
	for _, q := range []state.StatesQuery{{Limit: 99, Deleted: state.AnyDeletion}, {Limit: 99, Locked: true},
		{Limit: 99, Expected: true}} {
		page, err := store.States(t.Context(), n.org, q)
		note(err)
		s.States = append(s.States, page)
	}
	for q := (audit.Query{Limit: 99}); ; {
		page, err := store.Events(t.Context(), n.org, q)
		note(err)
		s.Events = append(s.Events, page.Events...)
		if q.Before = page.Next; q.Before == 0 {
			break
		}
	}
	var err error
	s.Usage, err = store.Usage(t.Context(), n.org)
	note(err)
	return s
}

// checkShred destroys an organization in the smallest pieces, in the middle of which another one is
// as it was, and once more.
func checkShred(t *testing.T, store state.Store) {
	before, gone, after := newNeighbour(t, store), newNeighbour(t, store), newNeighbour(t, store)
	others := []neighbour{before, after}
	saw := []seen{before.look(t, store), after.look(t, store)}
	for i := range others {
		if len(saw[i].Events) == 0 || saw[i].Usage == 0 || len(saw[i].Candidates) == 0 {
			t.Fatalf("the store says too little of an organization: %d events, %d bytes", len(saw[i].Events), saw[i].Usage)
		}
	}
	feed := feedOf(t, store)
	wantCounted(t, store, 3)
	for pieces := 0; ; pieces++ {
		removed, err := store.Shred(t.Context(), gone.org, 2)
		if err != nil || removed < 0 || removed > 2 || pieces > 1000 {
			t.Fatalf("Shred removed %d in piece %d, %v", removed, pieces, err)
		}
		for i, n := range others {
			if pieces < 4 || removed == 0 {
				suite.Equal(t, "another organization", saw[i], n.look(t, store))
			}
		}
		if removed == 0 {
			break
		}
	}
	if removed, err := store.Shred(t.Context(), gone.org, 2); removed != 0 || err != nil {
		t.Errorf("Shred again removed %d, %v", removed, err)
	}
	if removed, err := store.Shred(t.Context(), uuid.New(), 2); removed != 0 || err != nil {
		t.Errorf("Shred of a stranger removed %d, %v", removed, err)
	}
	wantShredded(t, store, gone)
	wantCounted(t, store, len(others))
	for i := range feed {
		if feed[i].Org == gone.org {
			feed[i] = feed[i].Blank()
		}
	}
	suite.Equal(t, "the feed", feed, feedOf(t, store))
	wantAnew(t, store, gone)
	wantCounted(t, store, len(others))
	for i, n := range others {
		suite.Equal(t, "another organization", saw[i], n.look(t, store))
	}
}

// wantCounted holds Totals to counting what this many neighbours have.
func wantCounted(t *testing.T, store state.Store, neighbours int) {
	t.Helper()
	got, err := store.Totals(t.Context())
	if err != nil || got.States != int64(neighbours*readableStates) || got.Locks != int64(neighbours*heldLocks) {
		t.Errorf("Totals of %d organizations: %+v, %v", neighbours, got, err)
	}
}

// wantShredded holds the store to knowing nothing of an organization.
func wantShredded(t *testing.T, store state.Store, n neighbour) {
	t.Helper()
	wantUnlisted(t, store, func(one state.Located) bool { return one.Ref.Org == n.org })
	for _, ref := range n.refs {
		wantLost(t, store, ref)
		for _, id := range []string{"one", "two", "three"} {
			if _, err := store.Candidate(t.Context(), ref, id); err == nil {
				t.Errorf("candidate %s of %v is there", id, ref)
			}
		}
	}
	for _, q := range []state.StatesQuery{{Limit: 9, Deleted: state.AnyDeletion}, {Limit: 9, Locked: true},
		{Limit: 9, Expected: true}} {
		if page, err := store.States(t.Context(), n.org, q); len(page.States) > 0 || err != nil {
			t.Errorf("States %+v: %+v, %v", q, page.States, err)
		}
	}
	wantEvents(t, store, n.org, audit.Query{Limit: 9}, 0)
	wantEvents(t, store, n.org, audit.Query{Limit: 9, State: "rich"}, 0)
	wantEvents(t, store, n.org, audit.Query{Limit: 9, Action: audit.VersionPurge}, 0)
	if used, err := store.Usage(t.Context(), n.org); used != 0 || err != nil {
		t.Errorf("Usage is %d, %v", used, err)
	}
}

// wantAnew holds the store to taking the organization for a new one: numbers begin again, lock IDs
// are good, and bytes that were purged are accepted.
func wantAnew(t *testing.T, store state.Store, n neighbour) {
	t.Helper()
	ref := n.refs[0]
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "a")}))
	update(t, store, ref, nil, always(state.Change{Release: true}))
	body := stateBody(1, "rich") // what was purged
	head := put(t, store, ref, body)
	if head.Version.Number != 1 || head.Fence != (state.Fence{}) || head.Expected != nil {
		t.Errorf("the first version is %+v", head)
	}
	wantCurrent(t, store, ref, state.Snapshot{Version: head.Version, Body: body})
	for removed := 1; removed > 0; {
		var err error
		if removed, err = store.Shred(t.Context(), n.org, 99); err != nil {
			t.Fatal(err)
		}
	}
	wantShredded(t, store, n)
}

// feedOf returns all events, which are without a gap.
func feedOf(t *testing.T, store state.Store) (all []audit.Event) {
	t.Helper()
	for after := uint64(0); ; {
		page, err := store.Feed(t.Context(), after, 50)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		for _, e := range page {
			if after++; e.Sequence != after {
				t.Fatalf("the feed goes on with %d behind %d", e.Sequence, after-1)
			}
		}
		all = append(all, page...)
	}
}

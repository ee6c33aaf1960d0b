package statetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// RunDurable holds an engine to what survives its process. open opens the store in a
// directory, a new one or one that was used before; the suite closes it. The engine's
// TestMain has to call ChildMain.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	t.Run("Reopen", func(t *testing.T) { checkReopen(t, open) })
	t.Run("HalfExpunged", func(t *testing.T) { checkHalfExpunged(t, open) })
	t.Run("Kill", func(t *testing.T) {
		suite.Deep(t)
		checkKill(t, open)
	})
}

// checkReopen closes a store, opens it again and finds everything in its place.
func checkReopen(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	dir := t.TempDir()
	store := open(t, dir)
	all := fill(t, store)
	usage := map[uuid.UUID]int64{}
	for ref := range all {
		var err error
		if usage[ref.Org], err = store.Usage(t.Context(), ref.Org); err != nil || usage[ref.Org] == 0 {
			t.Errorf("Usage: %d, %v", usage[ref.Org], err)
		}
	}
	totals, err := store.Totals(t.Context())
	if err != nil || totals.States == 0 || totals.Locks == 0 {
		t.Errorf("Totals: %+v, %v", totals, err)
	}
	for range 2 {
		suite.Close(t, store)
		store = open(t, dir)
		wantTotals(t, store, totals)
		for ref, want := range all {
			want.check(t, store, ref)
			wantUsage(t, store, ref.Org, usage[ref.Org])
		}
	}
	ref := newRef("after")
	put(t, store, ref, stateBody(1, ""))
	suite.Close(t, store)
}

// checkHalfExpunged stops between the pieces of an Expunge: the state stays gone, and what
// is left of it goes with the next one, whatever that is for.
func checkHalfExpunged(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	dir := t.TempDir()
	store := open(t, dir)
	ref := doomedState(t, store)
	whole, err := store.Expunge(t.Context(), ref, noon(), 1, happened("expunge"))
	if err != nil {
		t.Fatalf("the first piece of four: %v", err)
	}
	suite.Close(t, store)
	store = open(t, dir)
	wantForgotten(t, store, ref)
	pieces := 1
	for done := false; !done; pieces++ {
		if done, err = store.Expunge(t.Context(), state.Ref{}, time.Time{}, 1, happened("")); err != nil || pieces > 9 {
			t.Fatalf("after %d pieces: %v", pieces, err)
		}
	}
	if pieces < 4 && !whole { // an engine may take everything at once
		t.Errorf("4 versions were gone after %d pieces of one: nothing was left to do", pieces)
	}
	wantForgotten(t, store, ref)
	wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 2)
	suite.Close(t, store)
}

// history is all that a store knows of a state.
type history struct {
	head       state.Head
	versions   []state.Snapshot
	candidates []state.Candidate
	events     []audit.Event
}

func (h history) check(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	wantHead(t, store, ref, h.head)
	wantCandidates(t, store, ref, 9, h.candidates...)
	for _, c := range h.candidates {
		body := []byte(nil)
		if c.Status == state.Open {
			body = stateBody(7, "")
		}
		wantCandidate(t, store, ref, state.CandidateBody{Candidate: c, Body: body})
	}
	suite.Equal(t, "events", h.events, wantEvents(t, store, ref.Org, audit.Query{Limit: 99}, len(h.events)))
	if h.head.ReleasedID != "" {
		_, err := store.Update(t.Context(), ref, nil, always(state.Change{Lock: newLock(t, "first")}))
		suite.Fault(t, "the lock that was released first", err, fault.LockIDUsed)
	}
	for _, version := range h.versions {
		wantVersion(t, store, ref, version)
	}
	if h.head.Exists() {
		wantCurrent(t, store, ref, h.versions[len(h.versions)-1])
	} else {
		wantAbsent(t, store, ref)
	}
}

// listed returns what the store has to tell of a state beside its versions.
func listed(t *testing.T, store state.Store, ref state.Ref) ([]state.Candidate, []audit.Event) {
	t.Helper()
	candidates, err := store.Candidates(t.Context(), ref, "", 9)
	if err != nil {
		t.Fatal(err)
	}
	events, err := listEvents(t.Context(), store, ref.Org, audit.Query{Limit: 99})
	if err != nil {
		t.Fatal(err)
	}
	return candidates, events
}

// fill puts states of every kind into the store.
func fill(t *testing.T, store state.Store) map[state.Ref]history {
	t.Helper()
	all := map[state.Ref]history{}
	for i, name := range []state.Name{"written", "locked", "released", "deleted", "re-created", "only/locked",
		"candidates", "fenced", "expected"} {
		for range 2 { // organizations
			ref, h := newRef(name), history{}
			write := func(size int) {
				body := stateBody(uint64(i), strings.Repeat("x", size))
				h.head = put(t, store, ref, body)
				h.versions = append(h.versions, state.Snapshot{Version: h.head.Version, Body: body})
			}
			change := func(c state.Change) { h.head = update(t, store, ref, nil, always(c)) }
			if name != "only/locked" {
				write(0)
				write(1 << 20)
			}
			switch name {
			case "locked", "only/locked":
				change(state.Change{Lock: newLock(t, "held")})
			case "expected":
				change(state.Change{Expect: expected("the network is taken down")})
			case "fenced":
				change(state.Change{Fence: &state.Fence{Run: "01J", Epoch: 7, Open: true}})
				lock := newLock(t, "run")
				lock.Run = state.RunRef{ID: "01J", Epoch: 6}
				change(state.Change{Lock: lock})
			case "released":
				change(state.Change{Lock: newLock(t, "first")})
				change(state.Change{Release: true, Lock: newLock(t, "last"), At: noon(), Events: events("takeover")})
				change(state.Change{Release: true, At: noon().Add(-1), Events: events("release")})
			case "candidates":
				for _, id := range []string{"decided", "open"} {
					h.head = update(t, store, ref, stateBody(7, ""),
						always(state.Change{Candidate: candidate(id, stateBody(7, "")), Events: events(id)}))
				}
				change(state.Change{Settle: settle("decided", state.Discarded)})
			case "deleted", "re-created":
				change(state.Change{Delete: true})
			}
			if name == "re-created" {
				write(100)
			}
			h.candidates, h.events = listed(t, store, ref)
			all[ref] = h
		}
	}
	return all
}

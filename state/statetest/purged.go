package statetest

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkPurgedBytes brings bytes back that were purged: as a version and as a candidate, after
// other writes and after retention has removed their version. They come back when they are
// asked for, and in another state.
func checkPurgedBytes(t *testing.T, store state.Store) {
	ref, leak := newRef("leaked"), stateBody(2, "secret")
	for i := range uint64(4) {
		put(t, store, ref, stateBody(i, "secret"))
	}
	put(t, store, ref, stateBody(9, "beside"))
	purge(t, store, ref, 3)
	wantRefused(t, store, ref, leak)
	if n, err := store.Prune(t.Context(), ref, state.Pruning{Below: 5, Limit: 9}, happened("prune")); n != 4 ||
		err != nil {
		t.Fatalf("Prune removed %d, %v", n, err)
	}
	wantRefused(t, store, ref, leak)
	update(t, store, ref, nil, always(state.Change{Delete: true, At: noon()}))
	wantRefused(t, store, ref, leak)
	put(t, store, ref, stateBody(3, "secret")) // of a version that was pruned, not purged
	put(t, store, newRef("leaked"), leak)
	put(t, store, state.Ref{Org: ref.Org, Name: "other"}, leak)

	asked := func(h state.Head) (state.Change, error) {
		change, err := accept(describe(leak))(h)
		change.RestorePurged = true
		return change, err
	}
	head := update(t, store, ref, leak, asked)
	wantCurrent(t, store, ref, state.Snapshot{Version: head.Version, Body: leak})
	wantRefused(t, store, ref, leak) // once is not for good
	asCandidate := candidate("asked", leak)
	update(t, store, ref, leak, always(state.Change{Candidate: asCandidate, RestorePurged: true}))
	wantCandidate(t, store, ref, state.CandidateBody{Candidate: *asCandidate, Body: leak})
}

// wantRefused holds the store to taking bytes neither as a version nor as a candidate, with
// nothing left of the try.
func wantRefused(t *testing.T, store state.Store, ref state.Ref, body []byte) {
	t.Helper()
	before, err := store.Head(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := store.Events(t.Context(), ref.Org, audit.Query{Limit: 99})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
		change, err := accept(describe(body))(h)
		change.Lock, change.Events = newLock(t, "restorer"), events("restored")
		return change, err
	})
	suite.Fault(t, "a version of purged bytes", err, fault.BytesPurged)
	_, err = store.Update(t.Context(), ref, body,
		always(state.Change{Candidate: candidate("restored", body), Events: events("restored")}))
	suite.Fault(t, "a candidate of purged bytes", err, fault.BytesPurged)
	wantHead(t, store, ref, before)
	_, err = store.Candidate(t.Context(), ref, "restored")
	suite.Fault(t, "Candidate", err, fault.CandidateNotFound)
	wantEvents(t, store, ref.Org, audit.Query{Limit: 99}, len(recorded.Events))
}

// checkExpungeWaits keeps a deleted state for as long as somebody has to decide on one of its
// candidates, be it older than the deletion or newer.
func checkExpungeWaits(t *testing.T, store state.Store) {
	later := noon().Add(time.Hour)
	kept := func(ref state.Ref) {
		t.Helper()
		head, err := store.Head(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := store.Expunge(t.Context(), ref, later, 9, happened("expunge")); !done || err != nil {
			t.Fatalf("Expunge: %v, %v", done, err)
		}
		wantHead(t, store, ref, head)
	}
	ref, older, newer := doomedState(t, store), stateBody(7, "older"), stateBody(8, "newer")
	update(t, store, ref, nil, always(state.Change{Undelete: true}))
	update(t, store, ref, older, always(state.Change{Candidate: candidate("older", older)}))
	update(t, store, ref, nil, always(state.Change{Delete: true, At: noon()}))
	update(t, store, ref, newer, always(state.Change{Candidate: candidate("newer", newer)}))
	kept(ref)
	for id, body := range map[string][]byte{"older": older, "newer": newer} {
		wantCandidate(t, store, ref, state.CandidateBody{Candidate: *candidate(id, body), Body: body})
	}
	update(t, store, ref, nil, always(state.Change{Settle: settle("newer", state.Discarded)}))
	kept(ref)
	update(t, store, ref, nil, always(state.Change{Settle: settle("older", state.Discarded)}))
	expunge(t, store, ref, later)
	wantForgotten(t, store, ref)
	wantEvents(t, store, ref.Org, audit.Query{Limit: 9}, 2) // the release, and the end
}

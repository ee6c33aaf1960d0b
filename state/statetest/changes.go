package statetest

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkDeletion deletes a locked state: its versions, number and lock stay.
func checkDeletion(t *testing.T, store state.Store) {
	ref, neighbour := newRef("deleted"), newRef("deleted")
	first := state.Snapshot{Body: stateBody(1, "")}
	first.Version = put(t, store, ref, first.Body).Version
	second := state.Snapshot{Body: stateBody(2, "")}
	second.Version = put(t, store, ref, second.Body).Version
	put(t, store, neighbour, first.Body)
	locked := update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "deleter")}))

	head := update(t, store, ref, nil, always(state.Change{Delete: true}))
	locked.Deleted = true
	suite.Equal(t, "head of the deleted state", locked, head)
	wantAbsent(t, store, ref)
	wantVersion(t, store, ref, first)
	wantVersion(t, store, ref, second)
	if _, err := store.Current(t.Context(), neighbour); err != nil {
		t.Errorf("the neighbour after the deletion: %v", err)
	}
}

// checkRecreation writes after deletions: the numbers go on.
func checkRecreation(t *testing.T, store state.Store) {
	ref := newRef("phoenix")
	var all []state.Snapshot
	for i := range uint64(4) {
		body := stateBody(1, "") // the same each time
		head := put(t, store, ref, body)
		if head.Version.Number != i+1 || head.Deleted {
			t.Fatalf("re-created state has the number %d, deleted %v", head.Version.Number, head.Deleted)
		}
		all = append(all, state.Snapshot{Version: head.Version, Body: body})
		update(t, store, ref, nil, always(state.Change{Delete: true}))
		wantAbsent(t, store, ref)
	}
	for _, want := range all {
		wantVersion(t, store, ref, want)
	}
}

// checkDecideError lets decisions fail, with a change beside the error: neither the error
// nor the state may be touched.
func checkDecideError(t *testing.T, store state.Store) {
	ref, body := newRef("refused"), stateBody(1, "")
	refusals := map[string]error{
		"plain": errors.New("refused"),
		"fault": fault.New(fault.StateNotFound, "there is no such state"),
		"held":  &state.HeldError{Fault: fault.New(fault.LockHeld, "held"), Holder: newLock(t, "x").Info},
		"ctx":   context.DeadlineExceeded,
	}
	version := describe(body)
	version.Number = 1
	change := state.Change{Version: &version, Delete: true, Lock: newLock(t, "y")}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			_, err := store.Update(t.Context(), ref, body, func(state.Head) (state.Change, error) { return change, refusal })
			if err != refusal { // the very same: not wrapped
				t.Errorf("error %v, want the decision's own", err)
			}
			wantHead(t, store, ref, state.Head{})
			wantAbsent(t, store, ref)
		})
	}
	head := put(t, store, ref, body)
	if _, err := store.Update(t.Context(), ref, body,
		func(state.Head) (state.Change, error) { return change, refusals["plain"] }); err == nil {
		t.Error("a refused Update of a written state succeeded")
	}
	wantHead(t, store, ref, head)
	wantCurrent(t, store, ref, state.Snapshot{Version: head.Version, Body: body})
}

func checkZeroChange(t *testing.T, store state.Store) {
	ref, body := newRef("same"), stateBody(1, "")
	zero := always(state.Change{})
	suite.Equal(t, "head of a new state", state.Head{}, update(t, store, ref, body, zero))
	wantAbsent(t, store, ref)
	put(t, store, ref, body)
	before := update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "same")}))
	suite.Equal(t, "head", before, update(t, store, ref, stateBody(2, ""), zero))
	wantCurrent(t, store, ref, state.Snapshot{Version: before.Version, Body: body})
	_, err := store.Version(t.Context(), ref, 2)
	suite.Fault(t, "Version(2)", err, fault.StateNotFound)
}

// checkHeadsStay keeps what was returned while the state goes on.
func checkHeadsStay(t *testing.T, store state.Store) {
	ref, body := newRef("kept"), stateBody(1, "")
	put(t, store, ref, body)
	head := update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "kept")}))
	snapshot, err := store.Current(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	update(t, store, ref, nil, always(state.Change{Release: true}))
	put(t, store, ref, stateBody(2, ""))
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "other"), Delete: true}))

	suite.Equal(t, "lock of the kept head", newLock(t, "kept"), head.Lock)
	if head.Version.Number != 1 || head.Deleted || head.ReleasedID != "" {
		t.Errorf("the kept head changed: %+v", head)
	}
	wantSnapshot(t, "the kept snapshot", state.Snapshot{Version: head.Version, Body: body}, snapshot)
}

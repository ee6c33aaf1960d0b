package statetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// fence decides to set one.
func fence(f state.Fence) state.Decide { return always(state.Change{Fence: &f}) }

// checkFences follows a fence through all that can become of its state: nothing but another
// fence changes it, and nothing of it leaves its state.
func checkFences(t *testing.T, store state.Store) {
	ref, neighbour := newRef("fenced"), newRef("fenced")
	put(t, store, neighbour, stateBody(1, ""))
	want := state.Fence{Run: "01J'é\x00run", Epoch: 1<<63 - 1, Open: true}
	keeps := func(what string, head state.Head) {
		t.Helper()
		suite.Equal(t, "the fence "+what, want, head.Fence)
	}
	keeps("of a state that was never written", update(t, store, ref, nil, fence(want)))
	wantAbsent(t, store, ref)
	wantUsage(t, store, ref.Org, state.RowBytes)
	if page, err := store.States(t.Context(), ref.Org, state.StatesQuery{Limit: 9}); err != nil || len(page.States) > 0 {
		t.Errorf("a state that has nothing but a fence is listed: %+v, %v", page, err)
	}
	keeps("beside a lock", update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "run")})))
	keeps("after a write", put(t, store, ref, stateBody(1, "")))
	keeps("after a sign of life", update(t, store, ref, nil, always(state.Change{Seen: true, At: noon()})))
	keeps("after a release", update(t, store, ref, nil, always(state.Change{Release: true})))
	keeps("of a deleted state", update(t, store, ref, nil, always(state.Change{Delete: true})))
	keeps("of one that was brought back", update(t, store, ref, nil, always(state.Change{Undelete: true})))
	want.Open = false
	keeps("that was closed", update(t, store, ref, nil, fence(want)))
	want = state.Fence{Run: "other", Epoch: 1, Open: true}
	body := stateBody(2, "")
	version := describe(body)
	version.Number = 2
	keeps("that came with a write", update(t, store, ref, body, always(state.Change{Version: &version, Fence: &want})))
	want = state.Fence{}
	keeps("that was taken away", update(t, store, ref, nil, fence(want)))
	if head, err := store.Head(t.Context(), neighbour); err != nil || head.Fence != (state.Fence{}) {
		t.Errorf("another organization's state has the fence %+v, %v", head.Fence, err)
	}
}

// checkFenceSeen shows each decision the fence that the one before has set.
func checkFenceSeen(t *testing.T, store state.Store) {
	ref := newRef("seen")
	for epoch := range int64(9) {
		update(t, store, ref, nil, func(h state.Head) (state.Change, error) {
			if epoch > 0 && h.Fence != (state.Fence{Run: "run", Epoch: epoch - 1, Open: true}) {
				return state.Change{}, fmt.Errorf("after epoch %d the fence is %+v", epoch-1, h.Fence)
			}
			return state.Change{Fence: &state.Fence{Run: "run", Epoch: epoch, Open: true}}, nil
		})
	}
}

// checkFenceAtomic lets a change fail for another reason: its fence is not there either.
func checkFenceAtomic(t *testing.T, store state.Store) {
	ref, old := newRef("atomic"), state.Fence{Run: "old", Epoch: 3}
	update(t, store, ref, nil, fence(old))
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "used")}))
	before := update(t, store, ref, nil, always(state.Change{Release: true}))
	_, err := store.Update(t.Context(), ref, nil,
		always(state.Change{Lock: newLock(t, "used"), Fence: &state.Fence{Run: "new", Epoch: 4, Open: true}}))
	suite.Fault(t, "a lock of a used ID, with a fence", err, fault.LockIDUsed)
	wantHead(t, store, ref, before)
}

// checkRunLock takes the run that holds a lock on a round trip, and away with the lock.
func checkRunLock(t *testing.T, store state.Store) {
	ref, lock := newRef("run"), newLock(t, "first")
	lock.KeyID, lock.Run = "run.01J", state.RunRef{ID: "01J", Epoch: 1<<63 - 1}
	suite.Equal(t, "a run's lock", lock, update(t, store, ref, nil, always(state.Change{Lock: lock})).Lock)
	person := newLock(t, "second")
	suite.Equal(t, "a person's lock after it", person,
		update(t, store, ref, nil, always(state.Change{Release: true, Lock: person})).Lock)
}

// checkFenceHolds has many executors of one run write, while its fence is closed: the version
// that was the newest at that moment stays the newest.
func checkFenceHolds(t *testing.T, store state.Store) {
	service, ref, run := newService(store), newRef("held"),
		auth.RunGrant{ID: "01J", Epoch: 1, Stage: auth.RunApply, State: "held"}
	p := auth.Principal{Org: ref.Org, KeyID: auth.RunKeyID(run.ID), Run: &run}
	if _, err := service.Fence(t.Context(), ref, state.Fence{Run: run.ID, Epoch: run.Epoch, Open: true}); err != nil {
		t.Fatal(err)
	}
	const writers, writes = 4, 5
	var last state.Head
	var closed atomic.Bool
	written := make(chan struct{}, writers*writes)
	suite.Together(t, writers+1, func(ctx context.Context, worker int) (err error) {
		if worker == writers {
			for range cap(written) {
				select {
				case <-written:
				case <-ctx.Done():
					return nil
				}
			}
			last, err = service.Fence(ctx, ref, state.Fence{Run: run.ID, Epoch: run.Epoch})
			closed.Store(true)
			return err
		}
		for i := 0; ; i++ {
			late := closed.Load()
			_, err := service.Put(ctx, p, ref.Name, state.Write{Body: stateBody(1, uuid.NewString())})
			switch {
			case fault.Is(err, fault.RunFenced) && i >= writes:
				return nil
			case err != nil:
				return fmt.Errorf("write %d: %w", i, err)
			case late:
				return errors.New("a write was accepted after the fence was closed")
			case i < writes:
				written <- struct{}{}
			}
		}
	})
	wantHead(t, store, ref, last)
	kept, err := store.Candidates(t.Context(), ref, "", 9)
	if err != nil || len(kept) != writers {
		t.Fatalf("%d candidates of %d fenced writes, %v", len(kept), writers, err)
	}
	for _, c := range kept {
		if c.Source != state.Fenced || c.Number != last.Version.Number {
			t.Errorf("candidate %+v; want it fenced, on version %d", c, last.Version.Number)
		}
	}
}

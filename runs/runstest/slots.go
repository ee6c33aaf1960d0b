package runstest

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// holding are the statuses in which a run that mutates has the slot.
func holding() []runs.Status {
	return []runs.Status{runs.Preparing, runs.Planning, runs.Checking, runs.AwaitingApproval, runs.Confirmed,
		runs.Applying, runs.Retrying, runs.Orphaned}
}

func checkSlot(t *testing.T, store runs.Store) {
	m, other := newMaker(), newMaker()
	first, second := m.pending(t, store, "w", runs.Apply), m.pending(t, store, "w", runs.Destroy)
	elsewhere, theirs := m.pending(t, store, "w/v", runs.Apply), other.pending(t, store, "w", runs.Apply)
	plan, drift := m.pending(t, store, "w", runs.Plan), m.pending(t, store, "w", runs.Drift)
	for _, status := range holding() {
		first = move(t, store, first, status)
		_, err := store.Update(t.Context(), second.Ref(), become(runs.Preparing))
		wantBlocked(t, err, first.ID)
		wantRun(t, store, second)
		wantEvents(t, store, second.Ref(), 1)
	}
	for _, free := range []runs.Run{elsewhere, theirs, plan, drift} {
		move(t, store, free, runs.Preparing)
	}
	for _, end := range []runs.Status{runs.Succeeded, runs.Failed, runs.Discarded, runs.Outdated, runs.Cancelled} {
		move(t, store, first, end)
		second = move(t, store, second, runs.Applying)
		move(t, store, second, runs.Failed)
		first, second = m.pending(t, store, "w", runs.Refresh), m.pending(t, store, "w", runs.Apply)
		first = move(t, store, first, runs.Planning)
	}
	// A blocked run may end, or change otherwise.
	second = update(t, store, second.Ref(), edited(func(r *runs.Run) { r.Reason = "waits" }))
	move(t, store, second, runs.Cancelled)
}

// checkSlotTogether has all runs of a workspace claimed at once, until all have ended.
func checkSlotTogether(t *testing.T, store runs.Store) {
	m := newMaker()
	waiting := map[string]runs.Run{}
	for range 5 {
		run := m.pending(t, store, "w", runs.Apply)
		waiting[run.ID] = run
	}
	for len(waiting) > 0 {
		var mu sync.Mutex
		var winners []runs.Run
		var all []runs.Run
		for _, run := range waiting {
			all = append(all, run)
		}
		together(len(all), func(i int) {
			run, err := store.Update(background(), all[i].Ref(), become(runs.Preparing))
			mu.Lock()
			defer mu.Unlock()
			if _, blocked := errors.AsType[*runs.BlockedError](err); err != nil && !blocked {
				t.Errorf("Update: %v", err)
			} else if err == nil {
				winners = append(winners, run)
			}
		})
		if len(winners) != 1 {
			t.Fatalf("%d of %d runs have the slot", len(winners), len(all))
		}
		move(t, store, winners[0], runs.Succeeded)
		delete(waiting, winners[0].ID)
	}
}

// checkLine follows a workspace's line: only its head may be claimed, while the slot is free.
func checkLine(t *testing.T, store runs.Store) {
	m := newMaker()
	mine := runs.ClaimQuery{Orgs: []uuid.UUID{m.org}}
	want := func(what string, want ...runs.Run) {
		t.Helper()
		suite.Equal(t, what, runIDs(want), claimable(t, store, mine))
	}
	position := func(run runs.Run, ahead int, holder string) {
		t.Helper()
		gotAhead, gotHolder, err := store.Position(t.Context(), run)
		if gotAhead != ahead || gotHolder != holder || err != nil {
			t.Errorf("Position: %d, %q, %v; want %d, %q", gotAhead, gotHolder, err, ahead, holder)
		}
	}
	urgent := m.run("w", runs.Apply)
	a, b := m.pending(t, store, "w", runs.Apply), m.pending(t, store, "w", runs.Destroy)
	slow := m.run("w", runs.Refresh)
	slow.Priority = runs.Drifts
	slow = create(t, store, slow)
	plan := m.pending(t, store, "w", runs.Plan)
	want("of three in line and a plan", a, plan)
	position(b, 1, "")
	urgent = create(t, store, urgent) // its ID is the smallest
	want("with one before it", urgent, plan)
	position(slow, 3, "")

	urgent = move(t, store, urgent, runs.Preparing)
	want("while the slot is taken", plan)
	position(a, 0, urgent.ID)
	urgent = move(t, store, urgent, runs.AwaitingApproval)
	want("while a plan waits for people", plan)
	urgent = move(t, store, urgent, runs.Confirmed)
	want("when it is confirmed", urgent, plan)
	urgent = move(t, store, urgent, runs.Orphaned)
	want("when it is orphaned", plan)
	move(t, store, urgent, runs.Failed)
	want("when it has ended", a, plan)
	position(slow, 2, "")

	move(t, store, a, runs.Cancelled)
	want("when the head was cancelled", b, plan)
	b = update(t, store, b.Ref(), edited(func(r *runs.Run) { r.Priority = runs.Drifts + 1 }))
	want("when the head's priority is lower", plan, slow)
	move(t, store, slow, runs.Discarded)
	want("the last", plan, b)
	position(b, 0, "")
}

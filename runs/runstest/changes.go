package runstest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// checkOutcomes holds the counts of days to a recount, whatever becomes of runs.
func (l *ledger) checkOutcomes(t *testing.T, store runs.Store) {
	t.Helper()
	for _, m := range l.makers {
		want := map[runs.Outcome]int{}
		for _, r := range l.runs {
			if r.Org == m.org && r.Status.Ended() && !r.FinishedAt.IsZero() {
				want[runs.Outcome{Day: r.FinishedAt.UTC().Truncate(24 * time.Hour), Status: r.Status}]++
			}
		}
		found := must[[]runs.Outcome](t,
			"Outcomes")(store.Outcomes(t.Context(), m.org, later(-10_000_000), later(10_000_000)))
		got := map[runs.Outcome]int{}
		for _, o := range found {
			got[runs.Outcome{Day: o.Day, Status: o.Status}] = o.Runs
		}
		suite.Equal(t, "Outcomes", want, got)
	}
}

// checkTroubles holds the workspaces in trouble to a look at all runs.
func (l *ledger) checkTroubles(t *testing.T, store runs.Store) {
	t.Helper()
	for _, m := range l.makers {
		for _, trouble := range []runs.Trouble{runs.TroubleFailed, runs.TroubleDrift} {
			since := later(l.random.IntN(4))
			var want []runs.Troubled
			for _, workspace := range workspaces() {
				if run, ok := l.troubleOf(m.org, workspace, trouble); ok && !run.FinishedAt.Before(since) {
					want = append(want, runs.Troubled{Workspace: workspace, Run: run.ID, At: run.FinishedAt.UTC()})
				}
			}
			slices.SortFunc(want, func(a, b runs.Troubled) int { return cmp.Compare(b.Run, a.Run) })
			suite.Equal(t, "Troubled "+string(trouble), want,
				must[[]runs.Troubled](t, "Troubled")(store.Troubled(t.Context(), m.org, trouble, since)))
		}
	}
}

// troubleOf returns the run that says that a workspace is in a trouble.
func (l *ledger) troubleOf(org uuid.UUID, workspace string, trouble runs.Trouble) (last runs.Run, is bool) {
	var applied runs.Run
	for _, r := range l.where(func(r runs.Run) bool { return r.Org == org && r.Workspace == workspace }) {
		if r.Kind.Mutates() && r.Status == runs.Succeeded {
			applied = r
		}
		switch {
		case trouble == runs.TroubleDrift && r.Kind == runs.Drift && r.Status == runs.Succeeded:
			last, is = r, r.Drifted()
		case trouble == runs.TroubleFailed && r.Status == runs.Failed:
			last, is = r, true
		case trouble == runs.TroubleFailed && r.Status == runs.Succeeded:
			is = false
		}
	}
	if trouble == runs.TroubleDrift && applied.ID > last.ID && !applied.FinishedAt.Before(last.FinishedAt) {
		is = is && !applied.EndsDrift()
	}
	return last, is
}

// checkChanges holds that who follows is told of each run where it is in the end, once, and of
// nothing that has not changed.
func checkChanges(t *testing.T, store runs.Store) {
	m := newMaker()
	all := func(after int64) (found []runs.ChangedRun) {
		for {
			page := must[[]runs.ChangedRun](t, "Changes")(store.Changes(t.Context(), m.org, after, 2))
			if found = append(found, page...); len(page) < 2 {
				return found
			}
			after = page[1].Number
		}
	}
	var ids []string
	for range 5 {
		ids = append(ids, m.pending(t, store, "w", runs.Plan).ID)
	}
	first := all(0)
	if len(first) != 5 || !slices.IsSortedFunc(first, func(a, b runs.ChangedRun) int { return int(a.Number - b.Number) }) {
		t.Fatalf("%d runs have changed, or not in order", len(first))
	}
	last := must[int64](t, "LastChange")(store.LastChange(t.Context(), m.org))
	if last != first[4].Number {
		t.Errorf("the last change is %d, and %d is told", last, first[4].Number)
	}
	change := func(id string, decide func(*runs.Run)) runs.Run {
		ref := runs.Ref{Org: m.org, ID: id}
		return must[runs.Run](t, "Update")(store.Update(t.Context(), ref, func(r runs.Run) (runs.Change, error) {
			decide(&r)
			return runs.Change{Run: r}, nil
		}))
	}
	change(ids[0], func(r *runs.Run) { r.Reason = "alive" })
	if found := all(last); len(found) != 0 {
		t.Errorf("told of a run that goes on as it was: %v", found)
	}
	ended := change(ids[1], func(r *runs.Run) { r.Status, r.FinishedAt = runs.Cancelled, later(1) })
	found := all(last)
	if len(found) != 1 || found[0].Run.ID != ids[1] || found[0].Run.Status != runs.Cancelled {
		t.Errorf("after one change: %v", found)
	}
	if whole := all(0); len(whole) != 5 || whole[4].Run.ID != ids[1] {
		t.Errorf("a run is told twice, or not in its new place: %d", len(whole))
	}
	if err := store.Remove(t.Context(), ended.Ref()); err != nil {
		t.Fatal(err)
	}
	if whole := all(0); len(whole) != 4 {
		t.Errorf("%d runs are told, one of them removed", len(whole))
	}
	if other := must[[]runs.ChangedRun](t, "Changes")(store.Changes(t.Context(), newMaker().org, 0, 9)); len(other) != 0 {
		t.Errorf("another organization is told %v", other)
	}
}

package runstest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// checkFairness has organizations with many runs beside ones with few: they take turns.
func checkFairness(t *testing.T, store runs.Store) {
	many, few, late := newMaker(), newMaker(), newMaker()
	q := runs.ClaimQuery{Pool: "eu", Orgs: []uuid.UUID{many.org, few.org, late.org}}
	queue := func(m *maker, pool string, priority runs.Priority) runs.Run {
		run := m.run("w", runs.Plan)
		run.Pool, run.Priority = pool, priority
		return create(t, store, run)
	}
	for range 4 {
		queue(many, "eu", runs.People)
	}
	few.last.Store(100)
	for range 2 {
		queue(few, "eu", runs.People)
	}
	late.last.Store(50)
	if got := claimable(t, store, q)[:4]; got[0] >= got[1] || got[3] != many.run("", "").ID[:25]+"4" {
		t.Fatalf("of organizations that have claimed nothing yet, the smallest ID is first: %v", got)
	}
	var turns []uuid.UUID
	claim := func() runs.Ref {
		refs := must[[]runs.Ref](t,
			"Claimable")(store.Claimable(t.Context(), runs.ClaimQuery{Pool: "eu", Orgs: q.Orgs, Now: moment(), Limit: 1}))
		if len(refs) != 1 {
			t.Fatalf("%d runs with a limit of 1", len(refs))
		}
		update(t, store, refs[0], become(runs.Preparing))
		turns = append(turns, refs[0].Org)
		return refs[0]
	}
	for range 3 {
		claim()
	}
	queue(late, "eu", runs.People)
	claim()
	claim()
	suite.Equal(t, "whose turn it was", []uuid.UUID{many.org, few.org, many.org, late.org, few.org}, turns)

	// A better priority comes first, whoever claimed last; another pool's turns are its own.
	queue(late, "eu", runs.Drifts)
	queue(few, "eu", runs.Commits)
	queue(few, "us", runs.People)
	queue(many, "us", runs.People)
	turns = nil
	for range 4 {
		claim()
	}
	suite.Equal(t, "whose turn it was", []uuid.UUID{many.org, many.org, few.org, late.org}, turns)
	us := claimable(t, store, runs.ClaimQuery{Pool: "us", Orgs: q.Orgs})
	if len(us) != 2 || us[0] > us[1] {
		t.Errorf("of a pool from which nobody has claimed: %v", us)
	}
}

// checkClaimQueries selects by pool, organization, time and limit.
func checkClaimQueries(t *testing.T, store runs.Store) {
	m, n := newMaker(), newMaker()
	mine, both := []uuid.UUID{m.org}, []uuid.UUID{m.org, n.org}
	n.last.Store(100)
	want := func(what string, q runs.ClaimQuery, want ...runs.Run) {
		t.Helper()
		suite.Equal(t, what, runIDs(want), claimable(t, store, q))
	}
	builtin, theirs := m.pending(t, store, "w", runs.Plan), n.pending(t, store, "w", runs.Plan)
	run := m.run("w", runs.Plan)
	run.Pool = "eu"
	eu := create(t, store, run)
	want("the server's own", runs.ClaimQuery{Orgs: both}, builtin, theirs)
	want("one organization's", runs.ClaimQuery{Orgs: mine}, builtin)
	want("no organization's", runs.ClaimQuery{Orgs: []uuid.UUID{}})
	want("a pool's", runs.ClaimQuery{Pool: "eu", Orgs: mine}, eu)
	want("another organization's pool", runs.ClaimQuery{Pool: "eu", Orgs: both[1:]})
	want("a pool that isn't there", runs.ClaimQuery{Pool: "eu ", Orgs: both})
	want("with a limit", runs.ClaimQuery{Orgs: both, Limit: 1}, builtin)
	all := claimable(t, store, runs.ClaimQuery{Pool: "eu", Limit: 1000})
	if len(all) == 0 {
		t.Error("nothing of all organizations'")
	}

	late := update(t, store, builtin.Ref(), edited(func(r *runs.Run) { r.Status, r.NotBefore = runs.Retrying, later(1) }))
	want("before its time", runs.ClaimQuery{Orgs: both}, theirs)
	want("just before its time", runs.ClaimQuery{Orgs: both, Now: later(1).Add(-1000)}, theirs)
	want("at its time", runs.ClaimQuery{Orgs: both, Now: later(1)}, late, theirs)

	// The head of a line that has to wait keeps those behind it waiting.
	head := m.run("v", runs.Apply)
	head.NotBefore = later(1)
	head = create(t, store, head)
	m.pending(t, store, "v", runs.Apply)
	want("with a head that has to wait", runs.ClaimQuery{Orgs: mine})
	want("when it has waited", runs.ClaimQuery{Orgs: mine, Now: later(2)}, late, head)
}

// checkDue selects runs that somebody has to look at.
func checkDue(t *testing.T, store runs.Store) {
	m, n := newMaker(), newMaker()
	n.last.Store(100)
	leased := func(m *maker, minutes int) runs.Run {
		run := m.pending(t, store, "w", runs.Plan)
		return update(t, store, run.Ref(),
			edited(func(r *runs.Run) { r.Status, r.LeaseUntil = runs.Planning, later(minutes) }))
	}
	second, first, third := leased(m, 2), leased(n, 1), leased(m, 3)
	m.pending(t, store, "w", runs.Plan)
	due := func(minutes, limit int) (found []runs.Ref) {
		var after runs.Mark
		for {
			page := must[[]runs.Mark](t, "Due")(store.Due(t.Context(), later(minutes), after, limit))
			for _, r := range page {
				if r.Org == m.org || r.Org == n.org { // a shared database may have others
					found = append(found, r.Ref)
				}
			}
			if len(page) < limit || len(found) > 10 {
				return found
			}
			after = page[limit-1]
		}
	}
	suite.Equal(t, "Due", []runs.Ref(nil), due(0, 100))
	suite.Equal(t, "Due", []runs.Ref{first.Ref(), second.Ref()}, due(2, 100))
	suite.Equal(t, "Due", []runs.Ref{first.Ref(), second.Ref(), third.Ref()}, due(9, 100))
	if got := must[[]runs.Mark](t, "Due")(store.Due(t.Context(), later(9), runs.Mark{}, 1)); len(got) != 1 {
		t.Errorf("%d runs with a limit of 1", len(got))
	}
	suite.Equal(t, "Due, one by one", []runs.Ref{first.Ref(), second.Ref(), third.Ref()}, due(9, 1))
	twin := leased(m, 3) // of the same moment
	suite.Equal(t, "Due, one by one", []runs.Ref{first.Ref(), second.Ref(), third.Ref(), twin.Ref()}, due(9, 1))
	move(t, store, twin, runs.Failed)
	move(t, store, first, runs.Failed)
	update(t, store, second.Ref(), edited(func(r *runs.Run) { r.LeaseUntil = later(20) }))
	suite.Equal(t, "Due", []runs.Ref{third.Ref()}, due(9, 100))
}

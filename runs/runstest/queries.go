package runstest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// checkPages walks a list in pages of each size, forward to its end.
func checkPages(t *testing.T, store runs.Store) {
	m := newMaker()
	var want []string
	for range 7 {
		want = append(want, m.pending(t, store, "w", runs.Plan).ID)
	}
	slices.Reverse(want)
	for limit := 1; limit <= 8; limit++ {
		var got []string
		q := runs.Query{Org: m.org, Limit: limit}
		for pages := 1; ; pages++ {
			page := must[runs.Page](t, "List")(store.List(t.Context(), q))
			if len(page.Runs) > limit {
				t.Fatalf("%d runs with a limit of %d", len(page.Runs), limit)
			}
			got = append(got, runIDs(page.Runs)...)
			if page.Next == "" {
				break
			}
			if pages > len(want) {
				t.Fatalf("the list does not end: %v", got)
			}
			q.Before = page.Next
		}
		suite.Equal(t, fmt.Sprintf("pages of %d", limit), want, got)
	}
}

// checkQueries changes runs at random, and holds each way of asking for them to what a plain
// look at all of them says.
func checkQueries(t *testing.T, store runs.Store) {
	suite.Deep(t)
	compareQueries(t, store, 250, 5)
}

// checkFewQueries is checkQueries of a shorter history.
func checkFewQueries(t *testing.T, store runs.Store) { compareQueries(t, store, 90, 15) }

// compareQueries takes steps, and compares after each so many.
func compareQueries(t *testing.T, store runs.Store, steps, each int) {
	t.Helper()
	l := &ledger{random: rand.New(rand.NewPCG(1, 2)), makers: []*maker{newMaker(), newMaker()}, turns: map[string]int{}}
	l.makers[1].last.Store(1000)
	for step := range steps {
		l.step(t, store)
		if step%each == 0 {
			l.compare(t, store)
		}
	}
	l.compare(t, store)
}

// ledger is what a store has to have, kept in the plainest way.
type ledger struct {
	random *rand.Rand
	makers []*maker
	runs   []runs.Run
	turns  map[string]int // by pool and organization: when it last claimed
	claims int
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func workspaces() []string { return []string{"a", "a/b", "A"} }
func pools() []string      { return []string{"", "eu"} }
func agents() []string     { return []string{"one", "two"} }

// step makes a run, changes one or removes one.
func (l *ledger) step(t *testing.T, store runs.Store) {
	t.Helper()
	switch n := l.random.IntN(10); {
	case n < 3 || len(l.runs) == 0:
		run := pick(l.random, l.makers).run(pick(l.random, workspaces()), pick(l.random, runs.Kinds()))
		run.Pool, run.Priority = pick(l.random, pools()), runs.Priority(l.random.IntN(3))
		l.runs = append(l.runs, create(t, store, run))
	case n == 9:
		l.remove(t, store, l.random.IntN(len(l.runs)))
	default:
		l.change(t, store, l.random.IntN(len(l.runs)))
	}
}

func (l *ledger) remove(t *testing.T, store runs.Store, i int) {
	t.Helper()
	if !l.runs[i].Status.Ended() {
		return
	}
	if err := store.Remove(t.Context(), l.runs[i].Ref()); err != nil {
		t.Fatalf("Remove: %v", err)
	}
	l.runs = slices.Delete(l.runs, i, i+1)
}

func (l *ledger) change(t *testing.T, store runs.Store, i int) {
	t.Helper()
	was := l.runs[i]
	next := was
	next.Status, next.NotBefore, next.LeaseUntil = pick(l.random, runs.Statuses()), time.Time{}, time.Time{}
	next.Priority, next.Pool = runs.Priority(l.random.IntN(3)), pick(l.random, pools())
	if l.random.IntN(3) == 0 {
		next.NotBefore = later(l.random.IntN(5))
	}
	if next.Status.Leased() {
		next.Executor, next.LeaseUntil = &runs.Executor{Agent: pick(l.random, agents())}, later(l.random.IntN(5))
	}
	if next.FinishedAt, next.StartedAt = (time.Time{}), (time.Time{}); next.Status.Ended() {
		next.FinishedAt = later(l.random.IntN(5))
		if l.random.IntN(2) == 0 {
			next.StartedAt = later(0)
		}
	}
	if next.Counts = nil; l.random.IntN(2) == 0 {
		next.Counts = &api.RunCounts{Drift: l.random.IntN(2)}
	}
	holder := l.holder(was.Org, was.Workspace)
	got, err := store.Update(t.Context(), was.Ref(),
		func(runs.Run) (runs.Change, error) { return runs.Change{Run: next}, nil })
	if next.Holds() && holder != "" && holder != was.ID {
		wantBlocked(t, err, holder)
		return
	}
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	next.Revision = got.Revision
	suite.Equal(t, "Update", next, got)
	if was.Status.Claimable() && next.Status.Leased() {
		l.claims++
		l.turns[turnKey(was.Pool, was.Org)] = l.claims
	}
	l.runs[i] = got
}

func turnKey(pool string, org uuid.UUID) string { return pool + " " + org.String() }

func (l *ledger) holder(org uuid.UUID, workspace string) string {
	for _, r := range l.runs {
		if r.Org == org && r.Workspace == workspace && r.Holds() {
			return r.ID
		}
	}
	return ""
}

// line returns the runs that wait for a workspace's slot, in order.
func (l *ledger) line(org uuid.UUID, workspace string) []runs.Run {
	line := l.where(func(r runs.Run) bool {
		return r.Org == org && r.Workspace == workspace && r.Kind.Mutates() && r.Status == runs.Pending
	})
	slices.SortFunc(line, func(a, b runs.Run) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.ID, b.ID))
	})
	return line
}

func (l *ledger) where(ok func(runs.Run) bool) (found []runs.Run) {
	for _, r := range l.runs {
		if ok(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b runs.Run) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

func (l *ledger) orgs() (all []uuid.UUID) {
	for _, m := range l.makers {
		all = append(all, m.org)
	}
	return all
}

func (l *ledger) claimable(q runs.ClaimQuery) []runs.Run {
	found := l.where(func(r runs.Run) bool {
		if r.Pool != q.Pool || !slices.Contains(q.Orgs, r.Org) || !r.Status.Claimable() || r.NotBefore.After(q.Now) {
			return false
		}
		if !r.Kind.Mutates() || r.Status != runs.Pending {
			return true
		}
		return l.holder(r.Org, r.Workspace) == "" && l.line(r.Org, r.Workspace)[0].ID == r.ID
	})
	slices.SortStableFunc(found, func(a, b runs.Run) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(l.turns[turnKey(a.Pool, a.Org)], l.turns[turnKey(b.Pool, b.Org)]), cmp.Compare(a.ID, b.ID))
	})
	return found[:min(len(found), q.Limit)]
}

// compare asks the store in each way.
func (l *ledger) compare(t *testing.T, store runs.Store) {
	t.Helper()
	l.checkOutcomes(t, store)
	l.checkTroubles(t, store)
	for _, pool := range pools() {
		for _, limit := range []int{1, 3, 1000} {
			q := runs.ClaimQuery{Pool: pool, Orgs: l.orgs(), Now: later(l.random.IntN(6)), Limit: limit}
			suite.Equal(t, fmt.Sprintf("Claimable %+v", q), runIDs(l.claimable(q)), claimable(t, store, q))
		}
	}
	for _, agent := range append(agents(), "") {
		want := 0
		for _, org := range l.orgs() {
			want += len(must[[]runs.Run](t, "Leased")(store.Leased(t.Context(), []uuid.UUID{org}, agent)))
		}
		if got := must[[]runs.Run](t, "Leased")(store.Leased(t.Context(), l.orgs(), agent)); len(got) != want {
			t.Fatalf("Leased of all has %d runs, want %d", len(got), want)
		}
	}
	for _, org := range l.orgs() {
		for _, workspace := range workspaces() {
			l.compareWorkspace(t, store, org, workspace)
		}
		l.compareOrganization(t, store, org)
	}
}

func (l *ledger) compareWorkspace(t *testing.T, store runs.Store, org uuid.UUID, workspace string) {
	t.Helper()
	ctx := t.Context()
	open := l.where(func(r runs.Run) bool { return r.Org == org && r.Workspace == workspace && !r.Status.Ended() })
	suite.Equal(t, "Open", open, must[[]runs.Run](t, "Open")(store.Open(ctx, org, workspace)))
	l.compareLine(t, store, org, workspace)
	for i, run := range l.line(org, workspace) {
		ahead, holder, err := store.Position(ctx, run)
		if ahead != i || holder != l.holder(org, workspace) || err != nil {
			t.Fatalf("Position: %d, %q, %v; want %d, %q", ahead, holder, err, i, l.holder(org, workspace))
		}
	}
	l.compareLists(t, store, runs.Query{Org: org, Workspace: workspace})
	l.compareLists(t, store, runs.Query{Org: org, Workspace: workspace, Kind: pick(l.random, runs.Kinds())})
	l.compareLists(t, store, runs.Query{Org: org, Workspace: workspace, Status: l.statuses()})
}

func (l *ledger) compareLine(t *testing.T, store runs.Store, org uuid.UUID, workspace string) {
	t.Helper()
	want := map[string]runs.Line{}
	if line := (runs.Line{Holder: l.holder(org, workspace), Waiting: runIDs(l.line(org, workspace))}); line.Holder != "" ||
		len(line.Waiting) > 0 {
		want[workspace] = line
	}
	suite.Equal(t, "Lines", want,
		must[map[string]runs.Line](t, "Lines")(store.Lines(t.Context(), org, []string{workspace, "nobody's"})))
}

// statuses returns some of them.
func (l *ledger) statuses() []runs.Status {
	all := runs.Statuses()
	l.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+l.random.IntN(5)]
}

func (l *ledger) compareOrganization(t *testing.T, store runs.Store, org uuid.UUID) {
	t.Helper()
	ctx := t.Context()
	suite.Equal(t, "Tally", runs.Tally{
		Waiting: len(l.where(func(r runs.Run) bool { return r.Org == org && r.Status == runs.Pending })),
		Working: len(l.where(func(r runs.Run) bool { return r.Org == org && r.Status.Leased() })),
		Stored:  len(l.where(func(r runs.Run) bool { return r.Org == org })),
		Bytes:   bytesOf(t, store, org),
	}, must[runs.Tally](t, "Tally")(store.Tally(ctx, org)))
	for _, agent := range append(agents(), "") {
		want := l.where(func(r runs.Run) bool {
			return r.Org == org && r.Executor != nil && (agent == "" || r.Executor.Agent == agent) &&
				(r.Status.Leased() || r.Status == runs.Orphaned)
		})
		got := must[[]runs.Run](t, "Leased")(store.Leased(ctx, []uuid.UUID{org}, agent))
		slices.SortFunc(got, func(a, b runs.Run) int { return cmp.Compare(a.ID, b.ID) })
		suite.Equal(t, "Leased", want, got)
	}
	l.compareEnded(t, store, org)
	l.compareOldest(t, store, org)
	l.compareLists(t, store, runs.Query{Org: org})
	l.compareLists(t, store, runs.Query{Org: org, Kind: pick(l.random, runs.Kinds()), Status: l.statuses()})
	l.compareLists(t, store, runs.Query{Org: org, Status: l.statuses()})
}

func (l *ledger) compareEnded(t *testing.T, store runs.Store, org uuid.UUID) {
	t.Helper()
	before := later(l.random.IntN(6))
	want := l.where(func(r runs.Run) bool {
		return r.Org == org && r.Status.Ended() && r.FinishedAt.Before(before)
	})
	var got []runs.Run
	var last time.Time
	for _, mark := range l.walk(t, "Ended", func(after runs.Mark, limit int) ([]runs.Mark, error) {
		return store.Ended(t.Context(), before, after, limit)
	}) {
		if mark.Org != org {
			continue
		}
		run := must[runs.Run](t, "Run")(store.Run(t.Context(), mark.Ref))
		if run.FinishedAt.Before(last) || !mark.At.Equal(run.FinishedAt) {
			t.Fatalf("Ended has a run of %v, marked %v, behind one of %v", run.FinishedAt, mark.At, last)
		}
		got, last = append(got, run), run.FinishedAt
	}
	slices.SortFunc(got, func(a, b runs.Run) int { return cmp.Compare(a.ID, b.ID) })
	suite.Equal(t, "Ended", want, got)
}

// walk reads all marks in pages, each of which goes on behind the one before.
func (l *ledger) walk(t *testing.T, what string,
	page func(after runs.Mark, limit int) ([]runs.Mark, error)) (all []runs.Mark) {
	t.Helper()
	limit := 1 + l.random.IntN(20)
	var after runs.Mark
	for range 100000 {
		found := must[[]runs.Mark](t, what)(page(after, limit))
		if all = append(all, found...); len(found) < limit {
			return all
		}
		after = found[limit-1]
	}
	t.Fatalf("%s has no end", what)
	return nil
}

// compareOldest wants those first that nobody has executed, and then the oldest.
func (l *ledger) compareOldest(t *testing.T, store runs.Store, org uuid.UUID) {
	t.Helper()
	want := l.where(func(r runs.Run) bool { return r.Org == org && r.Status.Ended() })
	refs := must[[]runs.Ref](t, "Oldest")(store.Oldest(t.Context(), org, 1000))
	var got []runs.Run
	for _, ref := range refs {
		got = append(got, must[runs.Run](t, "Run")(store.Run(t.Context(), ref)))
	}
	if !slices.IsSortedFunc(got, func(a, b runs.Run) int {
		return cmp.Or(cmp.Compare(number(!a.StartedAt.IsZero()), number(!b.StartedAt.IsZero())),
			a.FinishedAt.Compare(b.FinishedAt))
	}) {
		t.Fatalf("Oldest is in another order: %+v", runIDs(got))
	}
	if len(refs) > 1 {
		suite.Equal(t, "Oldest", refs[:1], must[[]runs.Ref](t, "Oldest")(store.Oldest(t.Context(), org, 1)))
	}
	slices.SortFunc(got, func(a, b runs.Run) int { return cmp.Compare(a.ID, b.ID) })
	suite.Equal(t, "Oldest", want, got)
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// compareLists walks a list in pages.
func (l *ledger) compareLists(t *testing.T, store runs.Store, q runs.Query) {
	t.Helper()
	want := l.where(func(r runs.Run) bool {
		return r.Org == q.Org && (q.Workspace == "" || r.Workspace == q.Workspace) && (q.Kind == "" || r.Kind == q.Kind) &&
			(len(q.Status) == 0 || slices.Contains(q.Status, r.Status))
	})
	slices.Reverse(want)
	what := fmt.Sprintf("List %+v", q)
	var got []runs.Run
	q.Limit = 1 + l.random.IntN(20)
	for {
		page := must[runs.Page](t, what)(store.List(t.Context(), q))
		got = append(got, page.Runs...)
		if q.Before = page.Next; q.Before == "" || len(got) > len(want) {
			break
		}
	}
	suite.Equal(t, what, want, got)
}

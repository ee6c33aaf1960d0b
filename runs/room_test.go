package runs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// limited is a bench whose organizations may have little.
func limited(t *testing.T, l runs.Limits) (*bench, func(key string) (runs.Run, error)) {
	b := withWorkspaces(applying(t), &settled{now: runs.Workspace{Snapshot: "s"}})
	d := b.Deps
	d.Limits = l
	b.Service = runs.NewService(d)
	p := auth.Principal{Org: uuid.New(), KeyID: "one", Grant: auth.Grant{Role: auth.Writer}}
	return b, func(key string) (runs.Run, error) {
		return b.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, key)
	}
}

// A call that comes again finds its run, however full it is by then.
func TestFullQueuesKnowTheirRuns(t *testing.T) {
	b, create := limited(t, runs.Limits{Waiting: 1})
	first, err := create("key")
	b.must(err)
	if _, err := create("other"); !fault.Is(err, fault.RunsFull) {
		t.Fatalf("a second one: %v", err)
	}
	if again, err := create("key"); err != nil || again.ID != first.ID {
		t.Errorf("again: %s, %v", again.ID, err)
	}
}

// To make runs and cancel them fills nothing for ever: the oldest go, those first that nobody has
// executed.
func TestOldRunsMakeRoom(t *testing.T) {
	b, create := limited(t, runs.Limits{Stored: 5})
	done, err := create("")
	b.must(err)
	_, err = b.Store.Update(t.Context(), done.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Status, r.StartedAt, r.FinishedAt = runs.Succeeded, b.now, b.now
		return runs.Change{Run: r}, nil
	})
	b.must(err)
	p := auth.Principal{Org: done.Org, KeyID: "one", Grant: auth.Grant{Role: auth.Writer}}
	for range 50 {
		b.now = b.now.Add(time.Second)
		run, err := create("")
		b.must(err)
		_, err = b.Cancel(t.Context(), p, run.ID, api.CancelOrder{})
		b.must(err)
	}
	has, err := b.Store.Tally(t.Context(), done.Org)
	b.must(err)
	if _, err := b.Store.Run(t.Context(), done.Ref()); err != nil || has.Stored != 5 {
		t.Errorf("%d runs are kept, and of the one that was executed %v", has.Stored, err)
	}
	for range 5 {
		_, err = create("")
		b.must(err)
	}
	if _, err := create(""); !fault.Is(err, fault.RunsFull) {
		t.Errorf("where none has ended: %v", err)
	}
}

// bad is a store that can't do anything about one run.
type bad struct {
	runs.Store
	id string
}

func (s bad) Run(ctx context.Context, ref runs.Ref) (runs.Run, error) {
	if ref.ID == s.id {
		return runs.Run{}, fault.New(fault.StoreCorrupt, "a run in the store is damaged")
	}
	return s.Store.Run(ctx, ref)
}

func (s bad) Remove(ctx context.Context, ref runs.Ref) error {
	if ref.ID == s.id {
		return fault.New(fault.StoreCorrupt, "a run in the store is damaged")
	}
	return s.Store.Remove(ctx, ref)
}

// One damaged run, however many come before and behind it, keeps nobody from the others.
func TestSweepsGoPastBadRuns(t *testing.T) {
	suite.Deep(t)
	b := applying(t)
	b.sweeps(benchLease)
	for i := range 250 {
		_, err := b.Store.Create(t.Context(), runs.Run{
			Org: b.run.Org, ID: fmt.Sprintf("01N%023d", i), Workspace: "w", Kind: runs.Plan, Status: runs.Preparing, Attempt: 1,
			LeaseUntil: b.now.Add(time.Duration(i-300) * time.Second), Executor: &runs.Executor{Agent: "x"},
			Terms: runs.Terms{MaxAttempts: 5}, CreatedAt: b.now,
		}, "", nil, nil)
		b.must(err)
	}
	d := b.Deps
	d.Store = bad{b.Store, fmt.Sprintf("01N%023d", 0)}
	b.Service = runs.NewService(d)
	for range 3 {
		_ = b.Sweep(t.Context()) // listens
		b.now = b.now.Add(20 * time.Second)
	}
	if err := b.Sweep(t.Context()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("nobody hears of it: %v", err)
	}
	page, err := b.Store.List(t.Context(),
		runs.Query{Org: b.run.Org, Kind: runs.Plan, Status: []runs.Status{runs.Preparing}, Limit: 300})
	if b.must(err); len(page.Runs) != 1 {
		t.Errorf("%d runs are as they were", len(page.Runs))
	}
	for _, run := range mustList(t, b, runs.Retrying) {
		_, err := b.Store.Update(t.Context(), run.Ref(), func(r runs.Run) (runs.Change, error) {
			r.Status, r.FinishedAt = runs.Failed, b.now
			return runs.Change{Run: r}, nil
		})
		b.must(err)
	}
	d.Store = bad{b.Store, fmt.Sprintf("01N%023d", 1)}
	b.Service = runs.NewService(d)
	b.now = b.now.Add(366 * 24 * time.Hour)
	if err := b.Retain(t.Context()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("nobody hears of what could not be removed: %v", err)
	}
	if left := mustList(t, b, runs.Failed); len(left) != 1 {
		t.Errorf("%d runs are left", len(left))
	}
}

func mustList(t *testing.T, b *bench, status runs.Status) []runs.Run {
	t.Helper()
	page, err := b.Store.List(t.Context(),
		runs.Query{Org: b.run.Org, Kind: runs.Plan, Status: []runs.Status{status}, Limit: 300})
	if err != nil {
		t.Fatal(err)
	}
	return page.Runs
}

// The reserve of the disk is for what goes on: no run begins in it, and what there is of runs is
// shown.
func TestNoRunBeginsInTheReserveOfTheDisk(t *testing.T) {
	b, create := limited(t, runs.Limits{Waiting: 7})
	first, err := create("")
	b.must(err)
	scarce := true
	b.Scarce = func() bool { return scarce }
	if _, err := create(""); !fault.Is(err, fault.StoreFull) {
		t.Errorf("with the reserve left only: %v", err)
	}
	scarce = false
	_, err = create("")
	b.must(err)
	has, may, err := b.Holds(t.Context(), first.Org)
	if b.must(err); has.Stored != 2 || has.Waiting != 2 || may.Waiting != 7 || may.StoredBytes == 0 {
		t.Errorf("it has %+v of %+v", has, may)
	}
}

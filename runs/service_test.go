package runs_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// fenced is the state of one workspace, as far as executors see it.
type fenced struct {
	fence  int64 // the epoch that it lets through
	open   bool
	broken error  // of the next call
	after  func() // what happens right behind the next change of the fence
}

func (f *fenced) Head(context.Context, uuid.UUID, string) (runs.Base, error) { return runs.Base{}, nil }

func (f *fenced) Fence(_ context.Context, _ uuid.UUID, _, _ string, epoch int64, open bool) error {
	if err := f.broken; err != nil {
		f.broken = nil
		return err
	}
	if epoch < f.fence {
		return fault.New(fault.RunFenced, "the run is at epoch %d", f.fence)
	}
	if after := f.after; after != nil {
		f.after = nil
		after()
	}
	f.fence, f.open = epoch, open
	return nil
}

func (f *fenced) ReleaseFor(context.Context, uuid.UUID, string, string, string) error { return nil }

func (f *fenced) Seen(context.Context, uuid.UUID, string, string, int64) error { return nil }

// forgetful records nothing.
type forgetful struct{}

func (forgetful) Record(context.Context, audit.Event) error { return nil }

// bench is a service with a clock and one run that an executor applies.
type bench struct {
	*runs.Service
	t     *testing.T
	now   time.Time
	state *fenced
	run   runs.Run
	as    auth.Principal
}

const benchLease = 45 * time.Second

// plainWorkspaces are workspaces without variables.
type plainWorkspaces struct{ runs.Workspaces }

func (plainWorkspaces) Inputs(context.Context, uuid.UUID, string) (runs.Inputs, error) {
	return runs.Inputs{}, nil
}

func newBench(t *testing.T, status runs.Status, stage runs.Stage, phase runs.Phase) *bench {
	store := openModel(t, "")
	t.Cleanup(func() { _ = store.Close() })
	b := &bench{t: t, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), state: &fenced{fence: 2, open: true}}
	b.Service = runs.NewService(runs.Deps{
		Store: store, States: b.state, Workspaces: plainWorkspaces{}, Tokens: anyToken{}, Audit: forgetful{},
		Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
		Limits: runs.Limits{Lease: benchLease},
	})
	run := runs.Run{
		Org: uuid.New(), ID: "01M00000000000000000000000", Workspace: "a", Kind: runs.Apply, Status: status, Stage: stage,
		Phase:   phase,
		Attempt: 1, Epoch: 2, LeaseUntil: b.now.Add(benchLease), Touched: phase == runs.PhaseApply,
		Executor: &runs.Executor{Agent: "x"},
		Terms:    runs.Terms{MaxAttempts: 5}, CreatedAt: b.now,
	}
	var err error
	b.run, err = store.Create(t.Context(), run, "", nil, nil)
	b.must(err)
	b.as = auth.Principal{Org: run.Org, KeyID: auth.RunKeyID(run.ID),
		Run: &auth.RunGrant{ID: run.ID, Epoch: 2, Stage: auth.RunStage(stage), State: "a"}}
	return b
}

func (b *bench) must(errs ...error) {
	b.t.Helper()
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
}

// status is the run's now.
func (b *bench) status() runs.Status {
	b.t.Helper()
	run, err := b.Store.Run(b.t.Context(), b.run.Ref())
	b.must(err)
	return run.Status
}

// sweeps lets time go on, as a server that sweeps every few seconds sees it.
func (b *bench) sweeps(d time.Duration) {
	b.t.Helper()
	b.must(b.Sweep(b.t.Context()))
	for end := b.now.Add(d); b.now.Before(end); {
		b.now = b.now.Add(5 * time.Second)
		b.must(b.Sweep(b.t.Context()))
	}
}

func (b *bench) renew() error {
	_, err := b.Renew(b.t.Context(), b.as, b.run.ID,
		api.LeaseRenewal{Epoch: 2, Stage: string(b.run.Stage), Phase: string(b.run.Phase)})
	return err
}

func applying(t *testing.T) *bench {
	return newBench(t, runs.Applying, runs.ApplyStage, runs.PhaseApply)
}

// Silence that the server was there to hear counts.
func TestSilenceIsALoss(t *testing.T) {
	b := applying(t)
	b.sweeps(benchLease + 5*time.Second)
	if b.status() != runs.Orphaned || b.state.open {
		t.Errorf("the run is %s, its fence %+v", b.status(), b.state)
	}
	plan := newBench(t, runs.Planning, runs.PlanStage, runs.PhasePlan)
	plan.sweeps(benchLease + 5*time.Second)
	if plan.status() != runs.Retrying {
		t.Errorf("the plan is %s", plan.status())
	}
}

// A server that was down or stopped, or whose clock jumped, can't tell whether an executor was
// silent. It listens for the time of a lease before it takes anybody for lost.
func TestNobodyIsLostToAnAbsentServer(t *testing.T) {
	for name, away := range map[string]time.Duration{"forward, or stopped": 3 * time.Hour, "back": -3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := applying(t)
			b.sweeps(30 * time.Second)
			b.now = b.now.Add(away)
			b.sweeps(benchLease - 10*time.Second)
			if b.status() != runs.Applying || !b.state.open {
				t.Fatalf("the run is %s, its fence %+v", b.status(), b.state)
			}
			b.must(b.renew())
			b.sweeps(benchLease - 10*time.Second)
			if b.status() != runs.Applying || !b.state.open {
				t.Fatalf("behind a sign of life the run is %s, its fence %+v", b.status(), b.state)
			}
			b.sweeps(benchLease)
			if b.status() != runs.Orphaned || b.state.open {
				t.Errorf("behind a silence of a lease, the run is %s, its fence %+v", b.status(), b.state)
			}
		})
	}
	started := applying(t) // and the server is started only now
	started.now = started.now.Add(time.Hour)
	started.sweeps(benchLease - 10*time.Second)
	if started.status() != runs.Applying || !started.state.open {
		t.Errorf("after a start the run is %s, its fence %+v", started.status(), started.state)
	}
}

// Trouble with the store of states is no verdict about an executor.
func TestRenewWhileStatesAreUnavailable(t *testing.T) {
	b := applying(t)
	b.state.broken = fault.New(fault.StoreUnavailable, "the disk is slow")
	if err := b.renew(); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("the executor hears %v", err)
	}
	b.must(b.renew())
	b.state.fence = 3
	if err := b.renew(); !fault.Is(err, fault.EpochOld) {
		t.Errorf("behind a verdict, the executor hears %v", err)
	}
}

// A renewal that is on its way while the stage's end is reported leaves no way open behind it.
func TestRenewBesideTheEnd(t *testing.T) {
	b := applying(t)
	b.state.after = func() {
		_, err := b.Report(t.Context(), b.as, b.run.ID,
			api.PhaseReport{Epoch: 2, Stage: "apply", Attempt: 1, Phase: "output", Outcome: runs.OutcomeSucceeded, Last: true})
		b.must(err)
	}
	if err := b.renew(); !fault.Is(err, fault.EpochOld) {
		t.Errorf("the executor hears %v", err)
	}
	if b.status() != runs.Succeeded || b.state.open {
		t.Errorf("the run is %s, its fence %+v", b.status(), b.state)
	}
}

// Somebody has decided about a lost apply, the server died before that was on record, and the executor came back: it is
// lost again, and somebody can decide again.
func TestLostBesideAVerdict(t *testing.T) {
	b := applying(t)
	b.sweeps(benchLease + 5*time.Second)
	b.state.fence = 3
	if err := b.renew(); !fault.Is(err, fault.EpochOld) {
		t.Fatalf("behind a verdict, the executor hears %v", err)
	}
	b.sweeps(benchLease + 5*time.Second)
	if b.status() != runs.Orphaned || b.state.open || b.state.fence != 3 {
		t.Errorf("the run is %s, its fence %+v", b.status(), b.state)
	}
}

// Whoever looks at a run while it applies sees that somebody else has changed its state.
func TestStaleWhileItApplies(t *testing.T) {
	b := newBench(t, runs.Applying, runs.ApplyStage, runs.PhaseInit)
	by := api.Actor{KeyID: "k", KeyName: "ann"}
	b.must(b.StateMoved(t.Context(), b.run.Org, "a", runs.Base{Version: 41, Digest: "x"}, by))
	run, err := b.Store.Run(t.Context(), b.run.Ref())
	b.must(err)
	if run.Stale == nil || run.Stale.Version != 41 || run.Stale.By == nil || *run.Stale.By != by ||
		run.Status != runs.Applying {
		t.Errorf("the run is %s, stale %+v", run.Status, run.Stale)
	}
}

// A plan that waits is stale at once when somebody deletes its state, and not when an older version is heard of late.
func TestStaleByADeletion(t *testing.T) {
	b := newBench(t, runs.AwaitingApproval, runs.PlanStage, runs.PhaseShow)
	_, err := b.Store.Update(t.Context(), b.run.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Base = runs.Base{Version: 40, Digest: "x"}
		return runs.Change{Run: r}, nil
	})
	b.must(err)
	by := api.Actor{KeyID: "k", KeyName: "ann"}
	b.must(b.StateMoved(t.Context(), b.run.Org, "a", runs.Base{Version: 39, Digest: "w"}, by))
	if b.status() != runs.AwaitingApproval {
		t.Errorf("an older version made the plan %s", b.status())
	}
	b.must(b.StateMoved(t.Context(), b.run.Org, "a", runs.Base{}, by))
	run, err := b.Store.Run(t.Context(), b.run.Ref())
	b.must(err)
	if run.Status != runs.Outdated || run.Stale == nil || run.Stale.Because != runs.ByState || *run.Stale.By != by {
		t.Errorf("the run is %s, stale %+v", run.Status, run.Stale)
	}
}

// A workspace whose last run has failed as often as one is tried says so, until somebody asks for
// another run or brings another configuration.
func TestPaused(t *testing.T) {
	b := applying(t)
	failed := b.run
	failed.ID, failed.Status, failed.GaveUp, failed.Reason = "01M00000000000000000000001", runs.Failed, true,
		"quota exceeded"
	failed.Order.Snapshot = "s"
	drift := failed
	drift.ID, drift.Kind, drift.Priority, drift.GaveUp = "01M00000000000000000000002", runs.Drift, runs.Drifts, false
	person := failed
	person.ID, person.GaveUp = "01M00000000000000000000003", false
	paused := func(newest string) string {
		t.Helper()
		why, err := b.Paused(t.Context(), b.run.Org, "a", newest)
		b.must(err)
		return why
	}
	for _, run := range []runs.Run{failed, drift} {
		if _, err := b.Store.Create(t.Context(), run, "", nil, nil); err != nil {
			t.Fatal(err)
		}
		if why := paused("s"); !strings.Contains(why, failed.ID) || !strings.Contains(why, "quota exceeded") {
			t.Errorf("it is paused because of %q", why)
		}
	}
	if why := paused("other"); why != "" {
		t.Errorf("with another configuration it is paused because of %q", why)
	}
	_, err := b.Store.Create(t.Context(), person, "", nil, nil)
	if b.must(err); paused("s") != "" {
		t.Errorf("behind another run it is paused because of %q", paused("s"))
	}
}

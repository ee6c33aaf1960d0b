package runstest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// moment is when the suite's runs are made.
func moment() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC) }

// later is so many minutes behind moment.
func later(minutes int) time.Time { return moment().Add(time.Duration(minutes) * time.Minute) }

// maker makes runs of one organization with IDs that grow.
type maker struct {
	org  uuid.UUID
	last atomic.Int64
}

func newMaker() *maker { return &maker{org: uuid.New()} }

// run returns a pending run that is not stored yet.
func (m *maker) run(workspace string, kind runs.Kind) runs.Run {
	return runs.Run{
		Org: m.org, ID: fmt.Sprintf("01J%023d", m.last.Add(1)), Workspace: workspace, Kind: kind, Status: runs.Pending,
		Attempt: 1, CreatedAt: moment(),
	}
}

// pending stores a new run that waits.
func (m *maker) pending(t *testing.T, store runs.Store, workspace string, kind runs.Kind) runs.Run {
	t.Helper()
	return create(t, store, m.run(workspace, kind))
}

// ended stores a new run, and ends it.
func (m *maker) ended(t *testing.T, store runs.Store) runs.Run {
	t.Helper()
	run := m.pending(t, store, "prod/network", runs.Plan)
	return move(t, store, run, runs.Succeeded)
}

// full is a run in which everything is set.
func (m *maker) full() runs.Run {
	at := moment()
	r := m.run("prod/network", runs.Apply)
	r.Status, r.Stage, r.Phase, r.Reason = runs.AwaitingApproval, runs.PlanStage, runs.PhaseCheck,
		"waits for <1> of 2 approvals \U0001F642"
	r.Order = runs.Order{Snapshot: "snap", Message: "über \"quotes\"", Targets: []string{"a.b"},
		Replace: []string{`c["d"]`}, NoRefresh: true, AutoApprove: true}
	r.Trigger = runs.Actor{KeyID: "key", KeyName: "name", Subject: "ann@example.org", Role: auth.Owner, Request: "request"}
	r.RetryOf, r.Pool, r.Priority = "01J", "eu", runs.Commits
	r.Terms = runs.Terms{
		Revision: 7, Tool: "opentofu", Version: "~> 1.12", Directory: "infra", Parallelism: 5,
		Timeout: map[runs.Stage]time.Duration{runs.PlanStage: time.Hour},
		Grace:   map[runs.Stage]time.Duration{runs.ApplyStage: time.Minute},
		Outputs: []string{"id"}, Reads: []string{"shared/*"},
		AutoApply: "never", Approvals: 2, AllowAuthor: true, Carry: true, PlanTTL: time.Hour,
		ApprovalTTL: time.Minute,
		MinSandbox:  "landlock", MaxLogBytes: 1 << 30, MaxAttempts: 5,
		Gates: runs.Gates{Severity: "high", Irreversible: true, MonthlyCost: 100},
	}
	r.Attempt, r.NotBefore = 3, at.Add(time.Second)
	r.Base = runs.Base{Version: 1 << 62, Lineage: "lineage", Serial: 9, Digest: "digest"}
	r.Pin = &api.Pin{Digest: "pin", Changes: "changes", Inputs: "inputs", Plan: "plan", Unchecked: []string{"plan"}}
	r.Pin.State.Version, r.Pin.Tool.Name, r.Pin.Config.Snapshot = 41, "opentofu", "snap"
	r.Counts = &api.RunCounts{Add: 1, Any: true}
	r.Stale = &api.Stale{Since: at, Because: "state", Version: 42, By: &api.Actor{KeyID: "other"}}
	r.Approvals = []api.Approval{{Digest: "pin", Approved: true, Reason: "fine", By: api.Actor{KeyID: "key"}, At: at,
		From: "01J"}}
	r.Gates = []api.GateReason{{Gate: runs.GateFindings, Reason: "1 finding", Details: []string{"a.b: “open”"}}}
	r.Earlier = &runs.Earlier{Run: "01J", Changes: "changes", Approvals: r.Approvals, Gates: []string{runs.GateCost}}
	r.Cancel = &api.Cancel{Level: "soft", By: api.Actor{KeyID: "key"}, At: at, Until: &at}
	r.Executor = &runs.Executor{Agent: "agent", Name: "name", ClaimKey: "claim", Seen: at, BootID: "boot", PID: 4,
		StartTime: 1 << 63, Sandbox: &api.Sandbox{Level: "none", Why: []string{"no kernel"}}}
	code := 2
	r.Epoch, r.LeaseUntil, r.ExitCode, r.After, r.Touched = 12, at, &code, 43, true
	r.InFlight = []api.InFlight{{Address: "a.b", Action: "create", Since: at}}
	r.Diagnostics = []api.Diagnostic{{Severity: "error", Summary: "no", Detail: "line\nline\x00", Line: 3}}
	r.Phases = []api.PhaseTime{{Phase: "plan", Attempt: 1, Seconds: 0.1, Outcome: "succeeded"}}
	r.Reports = []string{"plan/1/1/plan"}
	r.StartedAt, r.PlannedAt, r.DecidedAt, r.AppliedAt, r.FinishedAt = at, at.Add(1000), at.Add(2000), at.Add(3000),
		at.Add(4000)
	return r
}

func create(t *testing.T, store runs.Store, run runs.Run) runs.Run {
	t.Helper()
	made, err := store.Create(t.Context(), run, "", []runs.Event{created(run)}, nil)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return made
}

func created(run runs.Run) runs.Event {
	return runs.Event{At: run.CreatedAt, Type: runs.EventCreated, To: run.Status, By: run.Trigger}
}

// become decides that a run gets a status.
func become(status runs.Status) runs.Decide {
	return edited(func(r *runs.Run) { r.Status = status })
}

// edited decides that a run is changed so, with an event that says from where to where.
func edited(edit func(*runs.Run)) runs.Decide {
	return func(r runs.Run) (runs.Change, error) {
		was := r.Status
		edit(&r)
		return runs.Change{Run: r,
			Events: []runs.Event{{At: moment(), Type: runs.EventPhase, From: was, To: r.Status, Epoch: r.Epoch}}}, nil
	}
}

// move makes an Update that gives a run a status, and has to succeed.
func move(t *testing.T, store runs.Store, run runs.Run, status runs.Status) runs.Run {
	t.Helper()
	return update(t, store, run.Ref(), become(status))
}

func update(t *testing.T, store runs.Store, ref runs.Ref, decide runs.Decide) runs.Run {
	t.Helper()
	run, err := store.Update(t.Context(), ref, decide)
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	wantRun(t, store, run)
	return run
}

// wantRun holds the store to a run as it has to be now.
func wantRun(t *testing.T, store runs.Store, want runs.Run) {
	t.Helper()
	got, err := store.Run(t.Context(), want.Ref())
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	suite.Equal(t, "Run", want, got)
}

func wantEvents(t *testing.T, store runs.Store, ref runs.Ref, want int) []runs.Event {
	t.Helper()
	events, err := store.Events(t.Context(), ref, 0, 10000)
	if err != nil {
		t.Fatalf("Events: %v", err)
	}
	if len(events) != want {
		t.Fatalf("%d events, want %d", len(events), want)
	}
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the sequence %d", i+1, e.Sequence)
		}
	}
	return events
}

func wantBlocked(t *testing.T, err error, by string) {
	t.Helper()
	blocked, ok := errors.AsType[*runs.BlockedError](err)
	if !ok || blocked.By != by {
		t.Fatalf("error %v, want one that says that the run is blocked by %s", err, by)
	}
}

// must is for answers that have to come without an error.
func must[T any](t *testing.T, what string) func(T, error) T {
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return got
	}
}

// claimable returns the IDs of what may be claimed from a pool.
func claimable(t *testing.T, store runs.Store, q runs.ClaimQuery) []string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.Now.IsZero() {
		q.Now = moment()
	}
	return ids(must[[]runs.Ref](t, "Claimable")(store.Claimable(t.Context(), q)))
}

func ids(refs []runs.Ref) []string {
	var all []string
	for _, r := range refs {
		all = append(all, r.ID)
	}
	return all
}

func runIDs(all []runs.Run) []string {
	var found []string
	for _, r := range all {
		found = append(found, r.ID)
	}
	return found
}

// together calls fn in n goroutines at once and waits for all.
func together(n int, fn func(i int)) {
	begin, done := make(chan struct{}), make(chan struct{})
	for i := range n {
		go func() {
			<-begin
			fn(i)
			done <- struct{}{}
		}()
	}
	close(begin)
	for range n {
		<-done
	}
}

// background is for calls of goroutines that may outlive the check's context.
func background() context.Context { return context.Background() }

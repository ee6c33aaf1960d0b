package runs

import (
	"time"

	"github.com/holdfast/holdfast/api"
)

// Wire is the run in an answer.
func (r Run) Wire() api.Run {
	said := r.Brief()
	said.Gates = r.Gates
	said.Outside = r.Outside.Wire()
	said.InFlight, said.Diagnostics, said.Phases = r.InFlight, r.Diagnostics, r.Phases
	return said
}

// Brief is the run in a list: without what its tool has said and what is in flight.
func (r Run) Brief() api.Run {
	said := api.Run{
		ID: r.ID, Workspace: r.Workspace, Kind: string(r.Kind), Status: string(r.Status), Phase: string(r.Phase),
		MovedAt: orNil(r.MovedAt), Reason: r.Reason,
		Message: r.Order.Message, Trigger: r.Trigger.Wire(), RetryOf: r.RetryOf, Follows: r.Follows,
		FollowedBy: r.Follow.id(), Attempt: r.Attempt,
		Snapshot: r.Order.Snapshot, Targets: r.Order.Targets, Replace: r.Order.Replace, NoRefresh: r.Order.NoRefresh,
		AutoApprove: r.Order.AutoApprove, Reconcile: r.Order.Reconcile, Elsewhere: r.Elsewhere,
		Pin: r.Pin, Counts: r.Counts, Stale: r.Stale, Approvals: r.Approvals, Cancel: r.Cancel,
		Executor: r.executorWire(), ExitCode: r.ExitCode, Before: r.Base.Version, After: r.After,
		CreatedAt: r.CreatedAt, StartedAt: orNil(r.StartedAt), PlannedAt: orNil(r.PlannedAt), DecidedAt: orNil(r.DecidedAt),
		AppliedAt: orNil(r.AppliedAt), FinishedAt: orNil(r.FinishedAt),
	}
	if r.Kind.Mutates() {
		said.Needed = r.needed()
	}
	return said
}

func (r Run) executorWire() *api.Executor {
	e := r.Executor
	if e == nil {
		return nil
	}
	return &api.Executor{Agent: e.Agent, Name: e.Name, Epoch: r.Epoch, Lease: orNil(r.LeaseUntil), Seen: orNil(e.Seen),
		Sandbox: e.Sandbox}
}

// orNil makes the zero time none.
func orNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// Wire is the event in an answer.
func (e Event) Wire() api.RunEvent {
	return api.RunEvent{
		Sequence: e.Sequence, At: e.At, Type: string(e.Type), From: string(e.From), To: string(e.To), Epoch: e.Epoch,
		By: e.By.Wire(), RequestID: e.By.Request, Note: e.Note,
	}
}

// Wire is the agent in an answer, without its secret.
func (a Agent) Wire() api.Agent {
	return api.Agent{
		ID: a.ID, Pool: a.Pool, Name: a.Name, Version: a.Version, System: a.System, Sandbox: a.Sandbox,
		Draining: a.Draining, SeenAt: a.Seen,
	}
}

// Bytes is about how many the run takes in memory.
func (r *Run) Bytes() int64 {
	n := runBytes + len(r.Reason) + len(r.Order.Message) + len(r.Workspace)
	for _, address := range r.Order.Targets {
		n += textBytes + len(address)
	}
	for _, address := range r.Order.Replace {
		n += textBytes + len(address)
	}
	for _, d := range r.Diagnostics {
		n += partBytes + len(d.Summary) + len(d.Detail) + len(d.Address) + len(d.File)
	}
	for _, f := range r.InFlight {
		n += partBytes + len(f.Address)
	}
	for _, g := range r.Gates {
		n += partBytes
		for _, detail := range g.Details {
			n += textBytes + len(detail)
		}
	}
	for _, p := range r.Phases {
		n += len(p.Slowest) * partBytes
	}
	return int64(n + partBytes*(len(r.Approvals)+len(r.Phases)+len(r.Reports)))
}

// What a run takes beside its texts, and what each of its parts does.
const (
	runBytes  = 8 << 10
	partBytes = 512
	textBytes = 16
)

// Bytes is about how many the event takes in memory.
func (e *Event) Bytes() int64 {
	return int64(partBytes + len(e.Note) + len(e.By.KeyID) + len(e.By.KeyName) + len(e.By.Subject))
}

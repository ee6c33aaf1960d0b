package runs

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/api"
)

// Machine has the rules as functions, so that a test may leave one out.
type Machine struct {
	Claim    func(c Call, by Executor, base Base, terms Terms) Decide
	Renew    func(c Call, l api.LeaseRenewal) Decide
	Report   func(c Call, p api.PhaseReport, head Base) Decide
	Planned  func(c Call, p Result) Decide
	Approve  func(c Call, d api.Decision, now Base, revision int64) Decide
	Deny     func(c Call, d api.Decision) Decide
	Discard  func(c Call) Decide
	Cancel   func(c Call, level string) Decide
	Stale    func(c Call, why api.Stale) Decide
	Expire   func(c Call) Decide
	Lose     func(c Call) Decide
	Resolve  func(c Call, head Base) Decide
	LeaseFor time.Duration
}

// Call is what a decision is made for.
type Call struct {
	By Actor
	At time.Time
}

func (c Call) call() call { return call{by: c.By, at: c.At, jitter: 1} }

// Result is what the server found in a plan.
type Result struct {
	Pin      *api.Pin
	Counts   api.RunCounts
	Now      Base
	Revision int64
	Epoch    int64 // of the executor that made the plan
	Gates    []api.GateReason
}

// Rules are those that hold.
func Rules() Machine {
	const lease = 45 * time.Second
	return Machine{
		LeaseFor: lease,
		Claim: func(c Call, by Executor, base Base, terms Terms) Decide {
			return c.call().claim(by, base, terms, lease)
		},
		Renew:  func(c Call, l api.LeaseRenewal) Decide { return c.call().renew(l, lease) },
		Report: func(c Call, p api.PhaseReport, head Base) Decide { return c.call().report(p, head) },
		Planned: func(c Call, p Result) Decide {
			return c.call().planned(result{pin: p.Pin, counts: p.Counts, now: p.Now, revision: p.Revision, epoch: p.Epoch,
				gates: p.Gates})
		},
		Approve: func(c Call, d api.Decision, now Base, revision int64) Decide {
			return c.call().approve(yes{Decision: d, now: now, revision: revision})
		},
		Deny:    func(c Call, d api.Decision) Decide { return c.call().deny(d) },
		Discard: func(c Call) Decide { return c.call().discard("") },
		Cancel:  func(c Call, level string) Decide { return c.call().cancel(level, "") },
		Stale:   func(c Call, why api.Stale) Decide { return c.call().stale(why) },
		Expire:  func(c Call) Decide { return c.call().expire() },
		Lose:    func(c Call) Decide { return c.call().lose(0) },
		Resolve: func(c Call, head Base) Decide { return c.call().resolve("looked at it", head) },
	}
}

// BeyondApproved says in what a run's plan goes beyond the one that was applied in part before it.
func (s *Service) BeyondApproved(ctx context.Context, run Run) (string, error) {
	return s.beyondApproved(ctx, run)
}

// Judge says what becomes of a run's plan by its gates and these policies, as if its plan file could be read.
func (s *Service) Judge(ctx context.Context, run Run, policies Policies) (Verdict, error) {
	return s.judge(ctx, run, result{pin: &api.Pin{Changes: changesOf(run)}, counts: *run.Counts, policies: policies})
}

// changesOf is the digest of what the run's plan changes.
func changesOf(run Run) string {
	if run.Pin == nil {
		return ""
	}
	return run.Pin.Changes
}

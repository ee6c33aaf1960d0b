package runs

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Approve says yes to the plan with the digest. Where a workspace wants nobody's approval,
// whoever may apply confirms, unless a gate holds the plan. Who may break the glass has a yes be enough by itself, for
// a reason. Faults: RunStatus, RunStale, PinMismatch, ApprovalOwn, ApprovalOthers, ReasonMissing.
func (s *Service) Approve(ctx context.Context, p auth.Principal, id string, d api.Decision) (Run, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return Run{}, err
	}
	right, refused := auth.ApproveRun, p.MayOn(auth.ApproveRun, run.Workspace)
	switch {
	case d.BreakGlass && d.Reason == "":
		return Run{}, fault.New(fault.ReasonMissing, "say why the glass is broken: it is on record")
	case d.BreakGlass:
		right = auth.BreakGlass
	case refused != nil && !run.wantsApproval():
		right = auth.ApplyRun
	}
	if err := s.Gate.AuthorizeOn(ctx, p, right, run.Workspace); err != nil {
		return Run{}, err
	}
	now, revision, err := s.now(ctx, run)
	if err != nil {
		return Run{}, err
	}
	if err := s.samePolicies(ctx, run); err != nil {
		return Run{}, err
	}
	action := audit.RunApprove
	if d.BreakGlass {
		action = audit.RunBreakGlass
	}
	after, err := s.update(ctx, run.Ref(), onRecord(s.entry(audit.ActorOf(p), action, run, d.Reason),
		s.by(ActorOf(p)).approve(yes{d, now, revision, refused})))
	if refused != nil && !d.BreakGlass && fault.Is(err, fault.RightMissing) {
		err = s.Gate.AuthorizeOn(ctx, p, auth.ApproveRun, run.Workspace) // on record: a gate holds the plan by now
	}
	if fault.Is(err, fault.ApprovalOwn) || fault.Is(err, fault.ApprovalOthers) {
		err = s.denied(ctx, p, auth.ApproveRun, run, err)
	}
	if fault.Is(err, fault.RunStale) {
		s.outdate(ctx, run, now, revision)
	}
	return s.acted(p, after, err)
}

// samePolicies refuses a yes to a plan that waits, or its apply, where it was shown to other policies than count now.
func (s *Service) samePolicies(ctx context.Context, run Run) error {
	if run.Status != AwaitingApproval && run.Status != Confirmed || run.Pin == nil {
		return nil // the rules say what becomes of it
	}
	policies, err := s.policies(ctx, run)
	if err != nil || policies.Digest() == run.Pin.Policies {
		return err
	}
	if _, err := s.update(ctx, run.Ref(), s.by(Server()).stale(s.staleByPolicies(nil))); err != nil {
		s.Log.ErrorContext(ctx, "a plan that is out of date waits still", "run", run.ID, "error", err)
	}
	return fault.New(fault.RunStale, "the policies have changed since the plan was made: retry the run")
}

func (s *Service) staleByPolicies(by *api.Actor) api.Stale {
	return api.Stale{Since: s.clock(), Because: BySettings, What: "the policies that the plan was shown to", By: by}
}

// now returns what a run's plan must be of to be applied.
func (s *Service) now(ctx context.Context, run Run) (Base, int64, error) {
	base, err := s.States.Head(ctx, run.Org, run.Workspace)
	if err != nil {
		return Base{}, 0, err
	}
	at, err := s.Workspaces.Workspace(ctx, run.Org, run.Workspace)
	return base, at.Terms.Revision, err
}

// outdate takes a plan that is out of date out of the way. That it can't is no fault of the
// call that found it.
func (s *Service) outdate(ctx context.Context, run Run, now Base, revision int64) {
	why := api.Stale{Since: s.clock(), Because: ByExpiry}
	switch {
	case !run.Base.same(now):
		why.Because, why.Version, why.By = ByState, now.Version, now.By
	case run.Terms.Revision != revision:
		why = s.settingsOf(ctx, run)
	}
	if _, err := s.update(ctx, run.Ref(), s.by(Server()).stale(why)); err != nil {
		s.Log.ErrorContext(ctx, "a plan that is out of date waits still", "run", run.ID, "error", err)
	}
}

// settingsOf says who has changed a workspace's settings or variables last, as far as that is known.
func (s *Service) settingsOf(ctx context.Context, run Run) api.Stale {
	at, err := s.Workspaces.Workspace(ctx, run.Org, run.Workspace)
	if err != nil {
		return s.staleBySettings()
	}
	inputs, err := s.Workspaces.Inputs(ctx, run.Org, run.Workspace)
	if err != nil {
		return s.staleBySettings(at.Changed)
	}
	return s.staleBySettings(at.Changed, inputs.Changed)
}

// denied puts on record that somebody has the right and may not use it on this run; the zero Run is none.
func (s *Service) denied(ctx context.Context, p auth.Principal, right auth.Right, run Run, err error) error {
	return errors.Join(err,
		s.Audit.Record(ctx, audit.Refusal(p, right, run.Workspace, fault.From(err).Code, s.clock())))
}

// acted returns what became of what somebody did.
func (s *Service) acted(p auth.Principal, run Run, err error) (Run, error) {
	if err != nil {
		return Run{}, err
	}
	return s.seen(p, run), nil
}

// Deny says no to the plan with the digest, which ends the run.
func (s *Service) Deny(ctx context.Context, p auth.Principal, id string, d api.Decision) (Run, error) {
	run, err := s.find(ctx, p, auth.ApproveRun, id)
	if err != nil {
		return Run{}, err
	}
	run, err = s.update(ctx, run.Ref(), onRecord(s.entry(audit.ActorOf(p), audit.RunDeny, run, d.Reason),
		s.by(ActorOf(p)).deny(d)))
	return s.acted(p, run, err)
}

// Discard ends a run whose plan nobody wants.
func (s *Service) Discard(ctx context.Context, p auth.Principal, id, reason string) (Run, error) {
	run, err := s.find(ctx, p, auth.CancelRun, id)
	if err != nil {
		return Run{}, err
	}
	run, err = s.update(ctx, run.Ref(), onRecord(s.entry(audit.ActorOf(p), audit.RunDiscard, run, reason),
		s.by(ActorOf(p)).discard(reason)))
	return s.acted(p, run, err)
}

// Cancel ends a run, softly or hard. A hard one may lose what the tool has not stored yet, so it
// needs the right to force locks too.
func (s *Service) Cancel(ctx context.Context, p auth.Principal, id string, o api.CancelOrder) (Run, error) {
	run, err := s.find(ctx, p, auth.CancelRun, id)
	if err != nil {
		return Run{}, err
	}
	level := o.Level
	switch level {
	case "":
		level = Soft
	case Soft:
	case Hard:
		if err := s.Gate.AuthorizeOn(ctx, p, auth.ForceUnlock, run.Workspace); err != nil {
			return Run{}, err
		}
	default:
		return Run{}, fault.New(fault.RunInvalid, "a run is cancelled %s or %s, not %q", Soft, Hard, level)
	}
	run, err = s.update(ctx, run.Ref(), onRecord(s.entry(audit.ActorOf(p), audit.RunCancel, run, o.Reason),
		s.by(ActorOf(p)).cancel(level, o.Reason)))
	return s.acted(p, run, err)
}

// Retry makes a new run of one that ended, with the same order. Approvals of its plan count
// again if the new plan's changes are equal, where the workspace lets them.
func (s *Service) Retry(ctx context.Context, p auth.Principal, id, key string) (Run, error) {
	was, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return Run{}, err
	}
	right := auth.PlanRun
	if was.Kind.Mutates() {
		right = auth.ApplyRun
	}
	if err := s.Gate.AuthorizeOn(ctx, p, right, was.Workspace); err != nil {
		return Run{}, err
	}
	if !was.Status.Ended() {
		return Run{}, misplaced(was, "retried before it has ended")
	}
	if was.Elsewhere {
		return Run{}, fault.New(fault.RunStatus, "the run was made on somebody's machine: begin it there again")
	}
	if was.Order.Pull != nil && was.Kind.Mutates() {
		return Run{}, fault.New(fault.RunInvalid,
			"a pull request is applied by the commands of its comments alone: have it planned there, and comment again")
	}
	at, err := s.Workspaces.Workspace(ctx, p.Org, was.Workspace)
	if err != nil {
		return Run{}, err
	}
	next, err := s.prepare(ctx, p, was.order(), at)
	if err != nil {
		return Run{}, err
	}
	next.RetryOf, next.Priority, next.Order.Pull = was.ID, was.Priority, was.Order.Pull
	next.Order.Wait, next.Order.Most, next.Order.Whole = was.Order.Wait, was.Order.Most, was.Order.Whole
	if was.Status == Outdated && was.Pin != nil {
		next.Earlier = was.asEarlier()
	}
	return s.create(ctx, p, next, key)
}

// order is what the run was asked for by.
func (r Run) order() api.RunOrder {
	return api.RunOrder{
		Workspace: r.Workspace, Kind: string(r.Kind), Snapshot: r.Order.Snapshot, Message: r.Order.Message,
		Targets: r.Order.Targets, Replace: r.Order.Replace, NoRefresh: r.Order.NoRefresh, AutoApprove: r.Order.AutoApprove,
		Reconcile: r.Order.Reconcile,
	}
}

// Resolve ends a run whose executor was lost while it applied, because somebody says so. What
// the executor may write afterwards is kept as a candidate.
func (s *Service) Resolve(ctx context.Context, p auth.Principal, id, reason string) (Run, error) {
	run, err := s.find(ctx, p, auth.ForceUnlock, id)
	if err != nil {
		return Run{}, err
	}
	if reason == "" {
		return Run{}, fault.New(fault.ReasonMissing, "say why nothing of the executor is left, or why that doesn't matter")
	}
	entry := s.entry(audit.ActorOf(p), audit.RunResolve, run, reason)
	if run.Elsewhere {
		run, err = s.update(ctx, run.Ref(), onRecord(entry, s.by(ActorOf(p)).giveUpElsewhere(reason)))
	} else {
		run, err = s.resolve(ctx, run, ActorOf(p), reason, entry)
	}
	return s.acted(p, run, err)
}

// resolve fences the executor before anything else, then frees the lock, then ends the run: it
// can be repeated from the beginning wherever it breaks off.
func (s *Service) resolve(ctx context.Context, run Run, by Actor, reason string, entry *audit.Event) (Run,
	error) {
	if run.Status != Orphaned {
		return s.update(ctx, run.Ref(), onRecord(entry, s.by(by).resolve(reason, Base{}))) // says why not, or yes again
	}
	if err := s.States.Fence(ctx, run.Org, run.Workspace, run.ID, run.Epoch+1, false); err != nil {
		return Run{}, err
	}
	if err := s.States.ReleaseFor(ctx, run.Org, run.Workspace, run.ID, reason); err != nil {
		return Run{}, err
	}
	head, err := s.States.Head(ctx, run.Org, run.Workspace)
	if err != nil {
		return Run{}, err
	}
	return s.updateAndFollow(ctx, run.Ref(), onRecord(entry, s.by(by).resolve(reason, head)))
}

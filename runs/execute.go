package runs

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// executed returns the run that an executor speaks of, by its token.
func (s *Service) executed(ctx context.Context, p auth.Principal, id string) (Run, error) {
	if p.Run == nil || p.Run.ID != id || p.Run.Tool {
		return Run{}, fault.New(fault.RightMissing,
			"only the executor of run %s may do that, with the token of its assignment", id)
	}
	return s.Store.Run(ctx, Ref{p.Org, id})
}

// Renew is an executor's sign of life, and tells it whether it is to end. Its fault: EpochOld.
func (s *Service) Renew(ctx context.Context, p auth.Principal, id string, l api.LeaseRenewal) (api.Lease, error) {
	run, err := s.executed(ctx, p, id)
	if err != nil {
		return api.Lease{}, err
	}
	if err := checkRenewal(p, l); err != nil {
		return api.Lease{}, err
	}
	if l, err = s.maskRenewal(ctx, run, l); err != nil {
		return api.Lease{}, err
	}
	run, err = s.update(ctx, run.Ref(), s.by(Actor{KeyID: p.KeyID}).renew(l, s.Limits.Lease))
	if err != nil {
		return api.Lease{}, err
	}
	if run.Stage == ApplyStage {
		if err := s.reopen(ctx, run); err != nil {
			return api.Lease{}, err
		}
		if err := s.States.Seen(ctx, run.Org, run.Workspace, run.ID, run.Epoch); err != nil {
			return api.Lease{}, err
		}
	}
	return run.lease(s.Limits.Lease), nil
}

func (r Run) lease(long time.Duration) api.Lease {
	lease := api.Lease{Epoch: r.Epoch, Until: r.LeaseUntil, Every: max(int(long.Seconds()/4.5), 1)}
	if r.Cancel != nil {
		lease.Cancel = r.Cancel.Level
	}
	return lease
}

// AwaitWish waits until more is wanted of an executor than it knows of, or it has the run no more, for as long as its
// renewal says. It returns the lease that it has then, which is
// the one that it was given where nothing has changed.
func (s *Service) AwaitWish(ctx context.Context, p auth.Principal, l api.LeaseRenewal, lease api.Lease) api.Lease {
	ctx, enough := context.WithTimeout(ctx, min(time.Duration(l.Wait)*time.Second, maxWait))
	defer enough()
	watch := s.watch(Ref{p.Org, p.Run.ID})
	defer watch.Close()
	for urgency(lease.Cancel) <= urgency(l.Cancel) {
		changed, _ := s.changed.next(watch.watched)
		run, err := watch.Run(ctx)
		switch {
		case err != nil:
			return lease
		case run.current(p.Run.Epoch) != nil:
			lease.Every = 1 // it is to ask, and be told why
			return lease
		}
		lease = run.lease(s.Limits.Lease)
		if urgency(lease.Cancel) > urgency(l.Cancel) {
			return lease
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return lease
		}
	}
	return lease
}

// urgency orders the levels of a cancellation.
func urgency(level string) int { return slices.Index([]string{Soft, Hard}, level) }

// reopen lets an executor write that may have been taken for lost. The fence and the run are kept
// apart: one whose end was reported meanwhile finds the fence as it was after that.
func (s *Service) reopen(ctx context.Context, run Run) error {
	err := s.States.Fence(ctx, run.Org, run.Workspace, run.ID, run.Epoch, true)
	if fault.Is(err, fault.RunFenced) {
		return fault.New(fault.EpochOld, "this executor was taken for lost, and somebody has decided since")
	}
	if err != nil {
		return err
	}
	now, err := s.Store.Run(ctx, run.Ref())
	if err != nil {
		return err
	}
	if old := now.current(run.Epoch); old != nil {
		return errors.Join(s.States.Fence(ctx, run.Org, run.Workspace, run.ID, run.Epoch, false), old)
	}
	return nil
}

// sameEpoch refuses a body that names another epoch than the token.
func sameEpoch(p auth.Principal, epoch int64) error {
	if p.Run.Epoch != epoch {
		return fault.New(fault.RunInvalid, "the token is of epoch %d, the body of %d", p.Run.Epoch, epoch)
	}
	return nil
}

// Report says how a phase ended. A stage's last phase is answered once it is settled what
// follows: until then the executor repeats it. Faults: EpochOld, RunInvalid.
func (s *Service) Report(ctx context.Context, p auth.Principal, id string,
	report api.PhaseReport) (api.PhaseAnswer, error) {
	run, err := s.executed(ctx, p, id)
	if err != nil {
		return api.PhaseAnswer{}, err
	}
	if err := checkReport(p, report); err != nil {
		return api.PhaseAnswer{}, err
	}
	if report, err = s.maskReport(ctx, run, report); err != nil {
		return api.PhaseAnswer{}, err
	}
	ends := report.Last || report.Outcome != OutcomeSucceeded
	if run.Stage == ApplyStage && ends && run.current(report.Epoch) == nil {
		if err := s.close(ctx, run); err != nil {
			return api.PhaseAnswer{}, err
		}
	}
	head, err := s.States.Head(ctx, run.Org, run.Workspace)
	if err != nil {
		return api.PhaseAnswer{}, err
	}
	if report.StateKept, err = s.keptState(ctx, run, report); err != nil {
		return api.PhaseAnswer{}, err
	}
	run, err = s.updateAndFollow(ctx, run.Ref(), s.by(Actor{KeyID: p.KeyID}).report(report, head))
	if err != nil {
		return api.PhaseAnswer{}, err
	}
	if run.Stage == ApplyStage && ends && run.current(report.Epoch) != nil {
		// A renewal that was on its way may have opened the fence behind close.
		if err := s.States.Fence(ctx, run.Org, run.Workspace, run.ID, report.Epoch, false); err != nil &&
			!fault.Is(err, fault.RunFenced) {
			return api.PhaseAnswer{}, err
		}
	}
	if run.Status == Checking {
		if run, err = s.check(ctx, run); err != nil {
			return api.PhaseAnswer{}, err
		}
	}
	return api.PhaseAnswer{Continue: run.Status.Leased() && run.Epoch == report.Epoch, Reason: run.Reason}, nil
}

// keptState reports whether the tool has left a state behind that it could not store.
func (s *Service) keptState(ctx context.Context, run Run, r api.PhaseReport) (bool, error) {
	if r.StateKept || run.Stage != ApplyStage || r.Outcome == OutcomeSucceeded {
		return r.StateKept, nil
	}
	_, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FileErroredState, run.Attempt})
	return err == nil, ignore(err, fault.RunFileNotFound)
}

// close ends an executor's right to write, and frees the lock that its tool may have left
// behind: its command has ended, as it says. It comes before the run's own change, so that a
// crash in between leaves nothing behind that nobody looks at.
func (s *Service) close(ctx context.Context, run Run) error {
	if err := s.States.Fence(ctx, run.Org, run.Workspace, run.ID, run.Epoch, false); err != nil {
		return err
	}
	return s.States.ReleaseFor(ctx, run.Org, run.Workspace, run.ID, "the run's command has ended")
}

func checkReport(p auth.Principal, r api.PhaseReport) error {
	if r.Outcome != OutcomeSucceeded && r.Outcome != OutcomeFailed && r.Outcome != OutcomeCancelled {
		return fault.New(fault.RunInvalid, "the outcome %q is none: succeeded, failed or cancelled", r.Outcome)
	}
	if !Phase(r.Phase).known() {
		return fault.New(fault.RunInvalid, "the phase %.32q is none of an executor's", r.Phase)
	}
	if len(r.Message) > 10*maxMessage || len(r.InFlight) > 10*maxTargets {
		return fault.New(fault.RunInvalid, "the report has more of something than it may have")
	}
	if err := checkTool(r.Tool); err != nil {
		return err
	}
	if err := checkSandbox(r.Sandbox); err != nil {
		return err
	}
	return sameEpoch(p, r.Epoch)
}

// checkTool bounds what is said of a tool, and of the one that it calls: Terragrunt alone calls one.
func checkTool(t *api.Tool) error {
	for ; t != nil; t = t.Calls {
		if longest(t.Name, t.Version, t.Digest, t.System) > maxWord {
			return fault.New(fault.RunInvalid, "what is said of the tool has at most %d bytes each", maxWord)
		}
		if t.Calls != nil && (t.Name != "terragrunt" || t.Calls.Name == "terragrunt") {
			return fault.New(fault.RunInvalid, "%.32q is said to call %.32q: only terragrunt calls another tool", t.Name,
				t.Calls.Name)
		}
	}
	return nil
}

// maxWord is how long a name may be that an executor gives.
const maxWord = 255 // bytes

func checkRenewal(p auth.Principal, l api.LeaseRenewal) error {
	if l.Phase != "" && !Phase(l.Phase).known() {
		return fault.New(fault.RunInvalid, "the phase %.32q is none of an executor's", l.Phase)
	}
	if len(l.BootID) > maxWord {
		return fault.New(fault.RunInvalid, "a boot ID has at most %d bytes", maxWord)
	}
	if err := checkSandbox(l.Sandbox); err != nil {
		return err
	}
	return sameEpoch(p, l.Epoch)
}

func checkSandbox(s *api.Sandbox) error {
	if s != nil && (len(s.Why) > 50 || longest(s.Level, s.Network) > maxWord || longest(s.Why...) > maxMessage) {
		return fault.New(fault.RunInvalid, "more is said of the sandbox than may be")
	}
	return nil
}

func longest(texts ...string) (n int) {
	for _, text := range texts {
		n = max(n, len(text))
	}
	return n
}

// Archive returns what writes the run's configuration as a tar archive, for its executor.
func (s *Service) Archive(ctx context.Context, p auth.Principal, id string) (write func(io.Writer) error, err error) {
	run, err := s.executed(ctx, p, id)
	if err == nil {
		err = run.current(p.Run.Epoch)
	}
	if err != nil {
		return nil, err
	}
	return func(to io.Writer) error {
		return s.Workspaces.WriteArchive(ctx, p.Org, run.Workspace, run.Order.Snapshot, to)
	}, nil
}

// repeatable is for how long the token of a plan that has ended is good, so that an executor
// whose last report was not answered can repeat it.
const repeatable = 10 * time.Minute

// VerifyRun returns who a run's token stands for, whose claims were found to be ours. While its
// executor has the run it is good, whatever the clock says: whether that one is there still is told
// by its signs of life, which a clock that jumps doesn't end, and the tool stores with it what it
// has made. Afterwards, that of a plan is good for a moment, unless somebody else has the run, and
// that of an apply until it expires: what a lost executor writes is not to be lost, and the state's
// fence decides about it.
func (s *Service) VerifyRun(ctx context.Context, p auth.Principal) (auth.Principal, error) {
	run, err := s.Store.Run(ctx, Ref{p.Org, p.Run.ID})
	switch {
	case fault.Is(err, fault.RunNotFound):
		return auth.Principal{}, fault.New(fault.CredentialsRevoked, "the run of this token is gone")
	case err != nil:
		return auth.Principal{}, err
	case run.current(p.Run.Epoch) == nil:
		p.Expires = time.Time{}
		return p, s.grantReads(run, p.Run)
	case p.Run.Stage == auth.RunPlan && !s.justEnded(run, p.Run.Epoch):
		return auth.Principal{},
			fault.New(fault.CredentialsRevoked, "the run of this token has ended, or another executor has it")
	case !p.Expires.IsZero() && !s.clock().Before(p.Expires):
		return auth.Principal{},
			fault.New(fault.KeyExpired, "the token of run %s was good until %s", p.Run.ID, p.Expires.Format(time.RFC3339))
	}
	return p, nil
}

// grantReads lets the tool of a run that goes on read the outputs that its workspace reads, unless its code is somebody
// else's.
func (s *Service) grantReads(run Run, to *auth.RunGrant) (err error) {
	if len(run.Terms.Reads) > 0 && to.Tool && !run.withholds() {
		to.Reads, err = auth.PatternsOf(run.Terms.Reads)
	}
	return err
}

// justEnded reports whether the plan of this epoch has ended so lately that its executor may not
// know yet.
func (s *Service) justEnded(run Run, epoch int64) bool {
	ended := run.PlannedAt
	if run.FinishedAt.After(ended) {
		ended = run.FinishedAt
	}
	return run.Epoch == epoch && !ended.IsZero() && s.clock().Sub(ended) < repeatable
}

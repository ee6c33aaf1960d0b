package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

// sweepReach is how many runs a sweep looks at before it asks again.
const sweepReach = 100

// Sweep looks at the runs whose time has come: executors that show no sign of life, plans and
// approvals that have waited for too long. It is to be called several times in the time of a
// lease: nobody is taken for lost by a server that was not there itself for so long.
func (s *Service) Sweep(ctx context.Context) error {
	listened, now := s.attendance.look(s.clock(), s.Limits.Lease), s.clock()
	return walk(ctx, func(after Mark) ([]Mark, error) { return s.Store.Due(ctx, now, after, sweepReach) },
		func(ref Ref) error {
			return s.sweepOne(ctx, ref, listened)
		})
}

// walk calls do for all runs that find returns, page by page, each of them once. An error about one
// keeps it from none of the others, and is returned at the end.
func walk(ctx context.Context, find func(after Mark) ([]Mark, error), do func(Ref) error) error {
	var after Mark
	var wrong tolerance
	for {
		found, err := find(after)
		if err != nil {
			return errors.Join(wrong.err(), err)
		}
		for _, mark := range found {
			if ctx.Err() != nil {
				return errors.Join(wrong.err(), ctx.Err())
			}
			wrong.add(mark.ID, do(mark.Ref))
		}
		if len(found) < sweepReach {
			return wrong.err()
		}
		after = found[len(found)-1]
	}
}

// tolerance keeps the first errors about runs, and counts the others.
type tolerance struct {
	first []error
	more  int
}

const toldErrors = 10

func (t *tolerance) add(run string, err error) {
	switch {
	case err == nil:
	case len(t.first) < toldErrors:
		t.first = append(t.first, fmt.Errorf("run %s: %w", run, err))
	default:
		t.more++
	}
}

func (t *tolerance) err() error {
	if t.more > 0 {
		return errors.Join(errors.Join(t.first...), fmt.Errorf("%d more runs", t.more))
	}
	return errors.Join(t.first...)
}

// sweepOne does what has come due for a run. Executors are taken for lost only where the server has
// listened for them.
func (s *Service) sweepOne(ctx context.Context, ref Ref, listened bool) error {
	run, err := s.Store.Run(ctx, ref)
	switch {
	case err != nil:
		return ignore(err, fault.RunNotFound)
	case run.Follow.waits():
		return s.follow(ctx, run)
	case run.Status.Ended():
		return s.strip(ctx, run)
	case run.Status == Orphaned && !run.overdue(s.clock()):
		return nil // another node has just found it lost
	case run.Elsewhere && run.Status == Orphaned:
		_, err = s.update(ctx, ref, s.by(Server()).giveUpElsewhere("it was waited for long enough"))
	case run.Elsewhere && run.Status.Leased() && listened:
		_, err = s.update(ctx, ref, s.by(Server()).silent())
	case run.Status == Orphaned:
		_, err = s.resolve(ctx, run, Server(), "nothing was heard of its executor for too long", nil)
	case run.Status == Checking:
		// Its executor has done its part and need not come back. Where there is no memory for that
		// now, the next sweep finds it: the others are not to wait with it.
		if _, err := s.check(budget.AtOnce(ctx), run); err == nil || !listened || fault.Is(err, fault.Overloaded) {
			return nil
		}
		_, err = s.update(ctx, ref, s.by(Server()).lose(0))
	case s.isOutsideDue(run):
		return s.askOutside(ctx, run)
	case run.Status.Leased() && !listened:
		return nil
	case run.Status.Leased():
		return s.lose(ctx, run)
	default:
		_, err = s.update(ctx, ref, s.by(Server()).expire())
	}
	return err
}

// lose takes an executor for lost. One that was applying is fenced first, unless a verdict that broke off has done so
// for good: then it is lost once more, and that verdict can be passed again.
func (s *Service) lose(ctx context.Context, run Run) error {
	if run.Stage == ApplyStage {
		err := s.States.Fence(ctx, run.Org, run.Workspace, run.ID, run.Epoch, false)
		if ignore(err, fault.RunFenced) != nil {
			return err
		}
	}
	after, err := s.update(ctx, run.Ref(), s.by(Server()).lose(s.Limits.Orphans))
	if err != nil {
		return err
	}
	if after.Status == Applying && after.Epoch == run.Epoch {
		// It has come back in the meantime.
		return ignore(s.States.Fence(ctx, run.Org, run.Workspace, run.ID, run.Epoch, true), fault.RunFenced)
	}
	s.Log.WarnContext(ctx, "a run's executor is lost", "run", run.ID, "agent", run.Executor.Agent, "status", after.Status)
	return nil
}

// StateMoved marks the plans of a workspace stale at once when somebody else has changed its
// state, or deleted it. Changes may be heard of in another order: a deletion counts if there is no state now.
func (s *Service) StateMoved(ctx context.Context, org uuid.UUID, workspace string, now Base, by api.Actor) error {
	if now.Version == 0 {
		head, err := s.States.Head(ctx, org, workspace)
		if err != nil {
			return err
		}
		now = head
	}
	return s.moved(ctx, org, workspace, func(r Run) *api.Stale {
		if r.Base.same(now) || now.Version > 0 && now.Version < r.Base.Version {
			return nil
		}
		return &api.Stale{Since: s.clock(), Because: ByState, Version: now.Version, By: &by}
	})
}

// WorkspaceChanged marks plans stale that were made with other settings or variables.
func (s *Service) WorkspaceChanged(ctx context.Context, org uuid.UUID, workspace string, revision int64,
	by api.Actor) error {
	return s.moved(ctx, org, workspace, func(r Run) *api.Stale {
		if r.Terms.Revision >= revision {
			return nil
		}
		return &api.Stale{Since: s.clock(), Because: BySettings, By: &by}
	})
}

// PoliciesChanged has the plans made anew that wait and were shown to other policies than those that count now: of a
// workspace, or of all of the organization for the empty name.
func (s *Service) PoliciesChanged(ctx context.Context, org uuid.UUID, workspace string, by api.Actor) error {
	query := Query{Org: org, Workspace: workspace, Status: []Status{AwaitingApproval, Confirmed}, Limit: sweepReach}
	var wrong tolerance
	for {
		page, err := s.Store.List(ctx, query)
		if err != nil {
			return errors.Join(wrong.err(), err)
		}
		for _, run := range page.Runs {
			policies, err := s.policies(ctx, run)
			if err == nil {
				_, err = s.update(ctx, run.Ref(), s.by(Server()).otherPolicies(policies.Digest(), s.staleByPolicies(&by)))
			}
			wrong.add(run.ID, err)
		}
		if query.Before = page.Next; page.Next == "" {
			return wrong.err()
		}
	}
}

func (s *Service) moved(ctx context.Context, org uuid.UUID, workspace string, why func(Run) *api.Stale) error {
	// Only the run that has the slot can have a plan that waits, however many wait behind it.
	_, holder, err := s.Store.Position(ctx, Run{Org: org, Workspace: workspace})
	if err != nil || holder == "" {
		return err
	}
	run, err := s.Store.Run(ctx, Ref{org, holder})
	if err != nil {
		return ignore(err, fault.RunNotFound)
	}
	if stale := why(run); stale != nil &&
		(run.Status == AwaitingApproval || run.Status == Confirmed || run.Status == Applying) {
		_, err = s.update(ctx, run.Ref(), s.by(Server()).stale(*stale))
	}
	return err
}

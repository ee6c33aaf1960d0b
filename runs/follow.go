package runs

import (
	"context"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// What a run's end has the server do by itself is on the run's record, with its end: so it is done
// though the server dies right behind, and found by Sweep.

// waits reports whether there is a run to be made.
func (f *Follow) waits() bool { return f != nil && !f.Done }

// id is the run's that follows; empty for none.
func (f *Follow) id() string {
	if f == nil {
		return ""
	}
	return f.ID
}

// updateAndFollow is update, and makes the run that is to follow. That it can't now is no fault of
// the call: Sweep makes it.
func (s *Service) updateAndFollow(ctx context.Context, ref Ref, decide Decide) (Run, error) {
	run, err := s.update(ctx, ref, decide)
	if err == nil && run.Follow.waits() {
		if err := s.follow(ctx, run); err != nil {
			s.Log.WarnContext(ctx, "what is to follow a run is not made yet", "run", run.ID, "error", err)
		}
	}
	return run, err
}

// followKey is the key that a following run is made by: none of a client's, which has no spaces.
func followKey(run Run) string { return "behind " + run.ID }

// follow makes the run that is to follow, once however often it is called.
func (s *Service) follow(ctx context.Context, run Run) error {
	at, err := s.Workspaces.Workspace(ctx, run.Org, run.Workspace)
	if err == nil {
		_, err = s.Workspaces.Files(ctx, run.Org, run.Workspace, run.Order.Snapshot)
	}
	why := ""
	switch {
	case err != nil && fault.From(err).Code.Kind() != fault.NotFound:
		return err
	case err != nil:
		why = "the workspace or its configuration is gone"
	case run.superseded(at):
		why = "the workspace has another configuration since, or is protected"
	default:
		if err := s.makeFollowing(ctx, run, run.following(at)); err != nil {
			return err
		}
	}
	_, err = s.update(ctx, run.Ref(), followed(why))
	return err
}

// followed notes that what was to follow is made, or why it is not.
func followed(why string) Decide {
	return func(r Run) (Change, error) {
		switch {
		case !r.Follow.waits():
			return nothing(r)
		case why != "":
			r.Reason, r.Follow = r.Reason+" (it is not made: "+why+")", nil
		default:
			made := *r.Follow
			made.Done, r.Follow = true, &made
		}
		return Change{Run: r}, nil
	}
}

func (s *Service) makeFollowing(ctx context.Context, was, next Run) error {
	next.CreatedAt = s.clock()
	event := Event{At: next.CreatedAt, Type: EventCreated, To: Pending, By: Server(), Note: "behind run " + next.Follows,
		Audit: s.entry(audit.Server(), audit.RunCreate, next, "")}
	event.Audit.Note += ", behind run " + next.Follows
	made, err := s.Store.Create(ctx, next, followKey(was), []Event{event}, nil)
	if err != nil {
		return err
	}
	s.deliver(ctx, made.Org)
	s.changed.tellWork()
	return s.giveWay(ctx, was, made)
}

// giveWay ends a following run where another one waits that somebody has asked for while the run
// before went on, or has come since: it may undo what this one would make again. Who asks from now
// on ends it themselves.
func (s *Service) giveWay(ctx context.Context, was, made Run) error {
	if !made.Kind.Mutates() {
		return nil
	}
	for _, kind := range []Kind{Apply, Destroy, Refresh} {
		page, err := s.Store.List(ctx, Query{Org: made.Org, Workspace: made.Workspace, Kind: kind, Limit: giveReach})
		if err != nil {
			return err
		}
		for _, run := range page.Runs {
			waits, came := !run.Status.Ended(), !run.StartedAt.Before(was.FinishedAt)
			if run.Follows == "" && run.ID != was.ID && (waits || came) {
				_, err := s.update(ctx, made.Ref(), s.by(Server()).makeWay(run.ID))
				return err
			}
		}
	}
	return nil
}

// giveReach is how many of a workspace's newest runs of a kind are looked at for one that somebody
// has asked for.
const giveReach = 20

// superseded reports whether what is to be tried again is out of date: somebody has brought another
// configuration.
func (r Run) superseded(at Workspace) bool {
	return r.Follow.Kind.Mutates() && (at.Snapshot != r.Order.Snapshot || r.Kind == Destroy && at.Protected)
}

// following is the run that comes behind this one. The order is that of the person who asked for
// this one, who is its author still: another one has to approve what goes beyond it.
func (r Run) following(at Workspace) Run {
	f := r.Follow
	next := Run{
		Org: r.Org, ID: f.ID, Workspace: r.Workspace, Kind: f.Kind, Status: Pending, Order: r.Order, Trigger: r.Trigger,
		Follows: r.ID,
		Pool:    at.Pool, Terms: at.Terms, Attempt: 1, NotBefore: f.NotBefore,
	}
	if !f.Kind.Mutates() {
		next.Trigger, next.Priority, next.Order = Server(), Drifts,
			Order{Snapshot: r.Order.Snapshot, Pull: r.Order.Pull}
		return next
	}
	next.RetryOf, next.Tries, next.Priority = r.ID, r.Tries+1, r.Priority
	next.Earlier = r.asEarlier()
	next.Earlier.Planned, next.Earlier.Revision = r.Planned, r.Terms.Revision
	return next
}

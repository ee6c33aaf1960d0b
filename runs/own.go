package runs

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// Own is a run that nobody has asked for but the server itself.
type Own struct {
	Workspace string
	Kind      Kind // Plan, Apply or Drift
	Snapshot  string
	Message   string
	Priority  Priority
	// Wait has the plan wait for a person, whatever is applied without a question in the workspace.
	Wait bool
	// AutoApprove has nobody asked, where nothing holds the plan and nobody's approval is wanted.
	AutoApprove bool
	// Most is how many resources the plan may change without a person having a look; 0 for any number.
	Most int
	// Whole has a run of kind Drift plan everything, where others only refresh.
	Whole bool
}

// GateChanges holds a plan of more changes than its run may have without a person.
const GateChanges = "changes"

// Begin makes a run of the server's own, once for each key: a client's has no spaces, so this one has to have one.
// Faults: those of Create for somebody who may do everything.
func (s *Service) Begin(ctx context.Context, org uuid.UUID, own Own, key string) (Run, error) {
	order := api.RunOrder{Workspace: own.Workspace, Kind: string(own.Kind), Snapshot: own.Snapshot,
		Message: cut(own.Message, maxMessage)}
	if err := checkOrder(order); err != nil {
		return Run{}, err
	}
	at, err := s.Workspaces.Workspace(ctx, org, own.Workspace)
	if err != nil {
		return Run{}, err
	}
	run, err := s.prepareFor(ctx, org, order, at)
	if err != nil {
		return Run{}, err
	}
	run.Trigger, run.Priority = Server(), own.Priority
	run.Order.Wait, run.Order.Most, run.Order.Whole = own.Wait, own.Most, own.Whole
	run.Order.AutoApprove = own.AutoApprove && at.Terms.Approvals == 0
	event := Event{At: run.CreatedAt, Type: EventCreated, To: Pending, By: Server(), Note: run.Order.Message,
		Audit: s.entry(audit.Server(), audit.RunCreate, run, run.Order.Message)}
	made, err := s.withRoom(ctx, org, func(room func(Tally) error) (Run, error) {
		return s.Store.Create(ctx, run, key, []Event{event}, room)
	})
	if err != nil {
		return Run{}, err
	}
	if made.Workspace != own.Workspace || made.Kind != own.Kind {
		return Run{}, fault.New(fault.IdempotencyMismatch, "the key %q is that of another run", key)
	}
	if made.ID == run.ID {
		s.deliver(ctx, made.Org)
		s.changed.tellWork()
	}
	return made, nil
}

// Supersede marks a plan stale that waits for people, because what it is of is to be applied no more; what says why.
// What somebody has said yes to goes on, and so does what has no plan yet. Its fault: RunNotFound.
func (s *Service) Supersede(ctx context.Context, ref Ref, what string) error {
	why := api.Stale{Since: s.clock(), Because: ByConfig, What: cut(what, maxMessage)}
	_, err := s.update(ctx, ref, func(r Run) (Change, error) {
		if r.Status != AwaitingApproval {
			return nothing(r)
		}
		return s.by(Server()).stale(why)(r)
	})
	return err
}

// Look returns a run, for the server itself. Its fault: RunNotFound.
func (s *Service) Look(ctx context.Context, ref Ref) (Run, error) { return s.Store.Run(ctx, ref) }

// tooMany holds a plan that changes more than its run may.
func (o Order) tooMany(counts api.RunCounts) []api.GateReason {
	n := counts.Add + counts.Change + counts.Destroy + counts.Replace
	if o.Most == 0 || n <= o.Most {
		return nil
	}
	return []api.GateReason{{Gate: GateChanges,
		Reason: fmt.Sprintf("%d resources would be changed, and at most %d may be without somebody's having a look", n,
			o.Most)}}
}

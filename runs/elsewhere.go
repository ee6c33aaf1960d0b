package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// A run elsewhere is made on a machine of somebody's, with their own key, and only the record of it is kept
// here. It keeps nobody out of its workspace, which need not exist: the state's lock does. Whoever began the
// record goes on with it, and every call may be repeated.

// Elsewhere is what somebody says of a run that they begin on a machine of theirs.
type Elsewhere struct {
	Workspace string
	Kind      Kind   // Apply or Destroy
	Reconcile string // a UUID that it has in common with others; empty for none
	Tool      string // the name of what is run; empty where that is not said
	Note      string // for people
}

// BeginElsewhere begins a record. A repeated call with the same key is given the record of the first one.
// Faults: RunInvalid, RunsFull, IdempotencyMismatch.
func (s *Service) BeginElsewhere(ctx context.Context, p auth.Principal, e Elsewhere, key string) (Run, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.ApplyRun, e.Workspace); err != nil {
		return Run{}, err
	}
	order := api.RunOrder{Workspace: e.Workspace, Kind: string(e.Kind), Message: e.Note, Reconcile: e.Reconcile}
	if err := checkOrder(order); err != nil {
		return Run{}, err
	}
	if !e.Kind.Mutates() || len(e.Tool) > maxWord {
		return Run{}, fault.New(fault.RunInvalid, "a record is of an apply or a destroy, by a tool whose name is short")
	}
	if err := s.endSilent(ctx, p.Org, e.Workspace); err != nil {
		return Run{}, err
	}
	base, err := s.States.Head(ctx, p.Org, e.Workspace)
	if err != nil {
		return Run{}, err
	}
	now := s.clock()
	run := Run{
		Org: p.Org, ID: newID(now), Workspace: e.Workspace, Kind: e.Kind, Status: Preparing, Stage: PlanStage,
		Phase: PhaseInit, Elsewhere: true, Base: base, Attempt: 1, Epoch: 1, Trigger: ActorOf(p),
		Order: Order{Message: e.Note, Reconcile: e.Reconcile},
		Terms: Terms{Tool: e.Tool, MaxAttempts: 1, MaxLogBytes: s.Limits.LogBytes, KeepFiles: s.Limits.KeepRuns},
		Executor: &Executor{Agent: elsewhereAgent, Name: "the machine of " + nameOf(ActorOf(p).Wire()), Since: now,
			Seen: now},
		LeaseUntil: now.Add(s.Limits.Lease), CreatedAt: now, StartedAt: now,
	}
	return s.beginElsewhere(ctx, p, run, key)
}

// elsewhereAgent is in the place of an agent's ID, which it can't be.
const elsewhereAgent = "elsewhere"

func (s *Service) beginElsewhere(ctx context.Context, p auth.Principal, run Run, key string) (Run, error) {
	event := Event{At: run.CreatedAt, Type: EventCreated, To: Preparing, Epoch: run.Epoch, By: run.Trigger,
		Note: run.Order.Message, Audit: s.entry(audit.ActorOf(p), audit.RunCreate, run, run.Order.Message)}
	made, err := s.withRoom(ctx, p.Org, func(room func(Tally) error) (Run, error) {
		return s.Store.Create(ctx, run, key, []Event{event}, func(has Tally) error {
			if has.Working >= s.Limits.Working {
				return fault.New(fault.RunsFull, "%d runs are at work, and an organization may have %d", has.Working,
					s.Limits.Working)
			}
			return room(has)
		})
	})
	switch {
	case err != nil:
		return Run{}, err
	case made.ID == run.ID:
		s.deliver(ctx, made.Org)
		if s.Changed != nil {
			s.Changed(made.Org)
		}
	case !made.Elsewhere || !made.sameOrder(run):
		return Run{}, fault.New(fault.IdempotencyMismatch,
			"this Idempotency-Key came with another order of a run before; use a new key")
	}
	return s.seen(p, made), nil
}

// elsewhere returns a record that the caller has begun.
func (s *Service) elsewhere(ctx context.Context, p auth.Principal, workspace, id string) (Run, error) {
	run, err := s.find(ctx, p, auth.ApplyRun, id)
	switch {
	case err != nil:
		return Run{}, err
	case !run.Elsewhere || run.Workspace != workspace:
		return Run{}, fault.New(fault.RunNotFound, "%s has no record %s of a run elsewhere", workspace, id)
	case !run.Trigger.Is(ActorOf(p)):
		return Run{}, s.denied(ctx, p, auth.ApplyRun, run,
			fault.New(fault.RightMissing, "only who has begun the record of run %s goes on with it", id))
	}
	return run, nil
}

// LogElsewhere is AppendLog by whoever has begun the record, to the log of its stage.
func (s *Service) LogElsewhere(ctx context.Context, p auth.Principal, workspace, id string, stream Stream, offset int64,
	text []byte) (int64, error) {
	run, err := s.elsewhere(ctx, p, workspace, id)
	if err != nil {
		return 0, err
	}
	p.Run = &auth.RunGrant{ID: run.ID, Epoch: run.Epoch, Stage: auth.RunStage(run.Stage), State: run.Workspace}
	return s.AppendLog(ctx, p, id, stream, 1, offset, text)
}

// RenewElsewhere is a sign of life, which may say that the tool begins to change something. It tells what is wanted.
// Its fault: EpochOld.
func (s *Service) RenewElsewhere(ctx context.Context, p auth.Principal, workspace, id string, phase Phase) (api.Lease,
	error) {
	run, err := s.elsewhere(ctx, p, workspace, id)
	if err != nil {
		return api.Lease{}, err
	}
	if phase != "" && phase != PhaseInit && phase != PhaseApply {
		return api.Lease{}, fault.New(fault.RunInvalid, "the phase %.32q is none of a record: init or apply", phase)
	}
	run, err = s.update(ctx, run.Ref(), s.by(ActorOf(p)).attend(phase, s.Limits.Lease))
	if err != nil {
		return api.Lease{}, err
	}
	return run.lease(s.Limits.Lease), nil
}

// EndElsewhere ends a record. Of outputs, which are as the tool's `output -json` says, no sensitive value is kept.
// The same end again is fine. Faults: EpochOld, RunInvalid, RunFileNotFound for outputs that can't be read.
func (s *Service) EndElsewhere(ctx context.Context, p auth.Principal, workspace, id string,
	e api.IACRunEnd) (Run, error) {
	run, err := s.elsewhere(ctx, p, workspace, id)
	if err != nil {
		return Run{}, err
	}
	if e.Status != "Succeeded" && e.Status != "Failed" || len(e.Reason) > 10*maxMessage {
		return Run{}, fault.New(fault.RunInvalid, "the status %.32q is no end, Succeeded or Failed, or the reason is too long",
			e.Status)
	}
	if len(e.Outputs) > 0 && e.Status == "Succeeded" && run.current(run.Epoch) == nil {
		if err := s.keepOutputs(ctx, run, e.Outputs); err != nil {
			return Run{}, err
		}
	}
	head, err := s.States.Head(ctx, run.Org, run.Workspace)
	if err != nil {
		return Run{}, err
	}
	run, err = s.update(ctx, run.Ref(), s.by(ActorOf(p)).conclude(e, head))
	return s.seen(p, run), err
}

// keepOutputs keeps outputs without what is sensitive. Those of a call before stay.
func (s *Service) keepOutputs(ctx context.Context, run Run, raw []byte) error {
	ref := FileRef{run.Ref(), FileOutputs, run.Attempt}
	if _, err := s.Store.FileOf(ctx, ref); err == nil {
		return nil
	}
	said, err := maskedOutputs(raw, nil)
	if err != nil {
		return fault.New(fault.RunInvalid, "the outputs are not as a tool prints them")
	}
	type output struct {
		Sensitive bool            `json:"sensitive"`
		Type      json.RawMessage `json:"type,omitempty"`
		Value     json.RawMessage `json:"value,omitempty"`
	}
	masker, err := s.maskerOf(ctx, run)
	if err != nil {
		return err
	}
	all := map[string]output{}
	for _, out := range said.Outputs {
		if out.Value != nil {
			if out.Value, err = masker.JSON(out.Value); err != nil {
				return err
			}
		}
		all[out.Name] = output{out.Sensitive, out.Type, out.Value}
	}
	kept, err := json.Marshal(all)
	if err != nil {
		return err
	}
	allow := func(r Run) error { return r.current(run.Epoch) }
	_, err = s.put(ctx, incoming{ref: ref, allow: allow}, bytes.NewReader(kept))
	if fault.Is(err, fault.FileMismatch) {
		return nil // the same call came twice at once
	}
	return err
}

// endSilent ends records of a workspace that nobody has spoken of for the time of a lease: whoever begins another one
// there knows that they are over.
func (s *Service) endSilent(ctx context.Context, org uuid.UUID, workspace string) error {
	open, err := s.Store.Open(ctx, org, workspace)
	for _, run := range open {
		if err == nil && run.Elsewhere && run.Status == Orphaned {
			_, err = s.update(ctx, run.Ref(), s.by(Server()).giveUpElsewhere("another run was begun"))
		}
	}
	return err
}

// keepsSilent is for how long a record waits for a machine of which nothing is heard.
const keepsSilent = 24 * time.Hour

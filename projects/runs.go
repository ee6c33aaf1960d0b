package projects

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
)

// The modes of runs.
const (
	ModePlan  = "plan"
	ModeApply = "apply"
)

// Begin makes a run of a project's newest files, and returns its ID. A repeated call with the same key is given the
// run of the first one. Faults: those of runs.Service.CreateAlone, RunInProgress among them.
func (s *Service) Begin(ctx context.Context, p auth.Principal, name state.Name, o api.ProjectRunOrder,
	key string) (string, error) {
	if err := s.runsOn(); err != nil {
		return "", err
	}
	if o.Mode != ModePlan && o.Mode != ModeApply {
		return "", fault.New(fault.RunInvalid, "the mode is %s or %s, not %.100q", ModePlan, ModeApply, o.Mode)
	}
	of, err := s.find(ctx, p, rightOf(o.Mode), name)
	if err != nil {
		return "", err
	}
	plan, err := s.planBefore(ctx, of, o)
	if err != nil {
		return "", err
	}
	made, err := s.Runs.CreateAlone(ctx, p, api.RunOrder{Workspace: string(name), Kind: o.Mode}, plan, key)
	return made.ID, err
}

// planBefore returns the plan that an apply goes on from: that of the order, or else the newest of the same files.
func (s *Service) planBefore(ctx context.Context, of project, o api.ProjectRunOrder) (string, error) {
	if o.Mode != ModeApply || of.caller.MayOn(auth.ReadRun, string(of.Name)) != nil {
		return "", nil
	}
	if o.PlanRunID != "" {
		plan, err := s.run(ctx, of.caller, of.Name, o.PlanRunID)
		if err == nil && plan.Kind != runs.Plan {
			err = fault.New(fault.RunInvalid, "the run %s is no plan", plan.ID)
		}
		return plan.ID, err
	}
	page, err := s.Runs.List(ctx, of.caller, runs.Query{Workspace: string(of.Name), Kind: runs.Plan,
		Status: []runs.Status{runs.Succeeded}, Limit: 1})
	if err != nil || len(page.Runs) == 0 || page.Runs[0].Order.Snapshot != of.Newest.ID.String() {
		return "", err
	}
	return page.Runs[0].ID, nil
}

// run returns a run of the project. Fault: RunNotFound.
func (s *Service) run(ctx context.Context, p auth.Principal, name state.Name, id string) (runs.Run, error) {
	if !runs.IsID(id) {
		return runs.Run{}, fault.New(fault.RunInvalid, "%.100q is no ID of a run: one has 26 digits and capital letters", id)
	}
	found, err := s.Runs.Get(ctx, p, id)
	if err == nil && found.Workspace != string(name) {
		err = fault.New(fault.RunNotFound, "the project has no run %s", id)
	}
	return found, err
}

// What a list of runs may be asked for.
const (
	UsualLimit = 50
	MaxLimit   = 200
	MaxOffset  = 10_000
)

// List lists a project's runs, the newest first, from behind so many of them.
func (s *Service) List(ctx context.Context, p auth.Principal, name state.Name, limit, offset int) (api.ProjectRuns,
	error) {
	said := api.ProjectRuns{Runs: []api.ProjectRunBrief{}, Limit: limit, Offset: offset}
	if err := s.runsOn(); err != nil {
		return said, err
	}
	of, err := s.find(ctx, p, auth.ReadRun, name)
	if err != nil {
		return said, err
	}
	q := runs.Query{Workspace: string(name), Limit: MaxLimit}
	for skipped := 0; ; {
		page, err := s.Runs.List(ctx, p, q)
		if err != nil {
			return said, err
		}
		for _, run := range page.Runs {
			switch {
			case skipped < offset:
				skipped++
			case len(said.Runs) == limit:
				said.More = true
				return said, nil
			default:
				said.Runs = append(said.Runs, of.brief(run))
			}
		}
		if q.Before = page.Next; page.Next == "" {
			return said, nil
		}
	}
}

// Approve says yes to a run's plan: to the one with the digest or, without one, to that which the run has.
func (s *Service) Approve(ctx context.Context, p auth.Principal, name state.Name, id string,
	d api.ProjectDecision) error {
	if err := s.runsOn(); err != nil {
		return err
	}
	// Where nobody has to approve, who may apply says yes.
	decision, err := s.decision(ctx, p, name, id, d, auth.ApproveRun, auth.ApplyRun)
	if err == nil {
		_, err = s.Runs.Approve(ctx, p, id, decision)
	}
	return err
}

// Deny says no to a run's plan, which ends the run: so may who approves, and who cancels runs.
func (s *Service) Deny(ctx context.Context, p auth.Principal, name state.Name, id string,
	d api.ProjectDecision) error {
	if err := s.runsOn(); err != nil {
		return err
	}
	decision, err := s.decision(ctx, p, name, id, d, auth.ApproveRun, auth.CancelRun)
	switch {
	case err != nil:
	case p.MayOn(auth.ApproveRun, string(name)) != nil:
		// Who may apply and not approve says no to what would wait for them alone.
		_, err = s.Runs.Discard(ctx, p, id, d.Reason)
	default:
		_, err = s.Runs.Deny(ctx, p, id, decision)
	}
	return err
}

// decision asks for one of the rights before it looks at the digest: who has none learns nothing of the plan.
func (s *Service) decision(ctx context.Context, p auth.Principal, name state.Name, id string,
	d api.ProjectDecision, rights ...auth.Right) (api.Decision, error) {
	if _, err := s.find(ctx, p, auth.ReadRun, name); err != nil {
		return api.Decision{}, err
	}
	run, err := s.run(ctx, p, name, id)
	if err != nil {
		return api.Decision{}, err
	}
	may := func(right auth.Right) bool { return p.MayOn(right, string(name)) == nil }
	if !slices.ContainsFunc(rights, may) {
		_, err := s.find(ctx, p, rights[0], name) // refuses it, on record
		return api.Decision{}, err
	}
	switch {
	case run.Pin == nil:
	case d.Digest == "":
		d.Digest = run.Pin.Digest
	case d.Digest != run.Pin.Digest:
		err = fault.New(fault.PinMismatch, "the run's plan has the digest %s, not %s", run.Pin.Digest, d.Digest)
	}
	return api.Decision{Digest: d.Digest, Reason: d.Reason}, err
}

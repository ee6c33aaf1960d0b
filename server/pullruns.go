package server

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/runs"
)

// pullRuns is what pull requests need of runs.
type pullRuns struct {
	service  *runs.Service
	insights *insight.Service
}

// Begin implements pulls.Runs.
func (r pullRuns) Begin(ctx context.Context, caller auth.Principal, order api.RunOrder, of runs.PullOrder,
	key string) (string, error) {
	made, err := r.service.CreateOfPull(ctx, caller, order, of, key)
	return made.ID, err
}

// Fact implements pulls.Runs.
func (r pullRuns) Fact(ctx context.Context, org uuid.UUID, id string) (pulls.RunFact, error) {
	run, err := r.service.Look(ctx, runs.Ref{Org: org, ID: id})
	if fault.Is(err, fault.RunNotFound) {
		return pulls.RunFact{ID: id, Ended: true, Reason: "the run is gone"}, nil
	}
	if err != nil {
		return pulls.RunFact{}, err
	}
	fact := pulls.RunFact{ID: run.ID, Ended: run.Status.Ended(), Good: run.Status == runs.Succeeded,
		Decide: run.Status == runs.AwaitingApproval, Confirmed: run.Status == runs.Confirmed, Reason: run.Reason,
		Counts: run.Counts, Config: run.Order.Snapshot}
	if run.Pin != nil {
		fact.Changes, fact.Base, fact.Digest = run.Pin.Changes, run.Pin.State.Digest, run.Pin.Digest
	}
	return fact, nil
}

// Confirm implements pulls.Runs.
func (r pullRuns) Confirm(ctx context.Context, caller auth.Principal, run, digest, reason string) error {
	_, err := r.service.Approve(ctx, caller, run, api.Decision{Digest: digest, Reason: reason})
	return err
}

// Drop implements pulls.Runs. Its fault for a run that has begun to be applied meanwhile, which nothing interrupts:
// RunStatus.
func (r pullRuns) Drop(ctx context.Context, caller auth.Principal, id, reason string) error {
	run, err := r.service.Look(ctx, runs.Ref{Org: caller.Org, ID: id})
	switch {
	case fault.Is(err, fault.RunNotFound):
		return nil
	case err != nil || run.Status.Ended():
		return err
	case run.Status == runs.AwaitingApproval, run.Status == runs.Confirmed: // else it may have begun to be applied
		_, err = r.service.Discard(ctx, caller, id, reason)
	case run.Status == runs.Applying:
		return fault.New(fault.RunStatus, "a run that is applying can't be dropped")
	default:
		_, err = r.service.Cancel(ctx, caller, id, api.CancelOrder{Level: runs.Soft, Reason: reason})
	}
	return err
}

// Insight implements pulls.Runs.
func (r pullRuns) Insight(ctx context.Context, org uuid.UUID, run string) (*api.Insight, error) {
	if r.insights == nil {
		return nil, nil
	}
	raw, err := r.insights.OfRun(ctx, itself(org), run)
	if err != nil {
		return nil, err
	}
	var found api.Insight
	return &found, json.Unmarshal(raw, &found)
}

// Changes implements pulls.Runs.
func (r pullRuns) Changes(ctx context.Context, org uuid.UUID, run string) (*api.RunChanges, error) {
	found, err := r.service.ChangesTold(ctx, runs.Ref{Org: org, ID: run})
	if fault.Is(err, fault.RunFileNotFound) || fault.Is(err, fault.RunNotFound) {
		return nil, nil
	}
	return found, err
}

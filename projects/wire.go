package projects

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// The words of projects for where a run is.
const (
	StatusPending  = "pending"
	StatusRunning  = "running"
	StatusSuccess  = "success"
	StatusFailed   = "failed"
	StatusAwaiting = "awaiting_approval"
)

// statusOf is the word of projects for a status.
func statusOf(s runs.Status) string {
	switch {
	case s == runs.Pending:
		return StatusPending
	case s == runs.AwaitingApproval:
		return StatusAwaiting
	case s == runs.Succeeded:
		return StatusSuccess
	case s.Ended():
		return StatusFailed
	}
	return StatusRunning
}

// brief is a run of the project's, short of its log, plan and files.
func (p project) brief(run runs.Run) api.ProjectRunBrief {
	said := api.ProjectRunBrief{
		ID: run.ID, ProjectID: p.id(), Project: run.Workspace, Type: ModePlan, Status: statusOf(run.Status),
		Reason: run.Reason, TriggeredBy: nameOf(run.Trigger.Wire()), PlanRunID: orNil(run.Order.PlanRun),
		CreatedAt: run.CreatedAt, UpdatedAt: changedAt(run),
	}
	if run.Counts != nil {
		said.Counts = &api.ProjectCounts{Added: run.Counts.Add, Changed: run.Counts.Change, Destroyed: run.Counts.Destroy}
	}
	if !run.Kind.Mutates() {
		return said
	}
	said.Type, said.ApprovalsNeeded = ModeApply, run.Terms.Approvals
	if run.Status == runs.AwaitingApproval && run.Pin != nil {
		said.Digest = &run.Pin.Digest
		said.ApprovalsNeeded = max(run.Terms.Approvals, 1)
	}
	decided(&said, run.Approvals)
	by, ok := strings.CutPrefix(run.Reason, "discarded by ")
	if ok && run.Status == runs.Discarded && said.Decision == nil {
		word, at := "denied", run.FinishedAt
		said.Decision, said.DecidedBy, said.DecidedAt = &word, &by, &at
	}
	return said
}

// decided says who has decided last.
func decided(said *api.ProjectRunBrief, all []api.Approval) {
	for _, a := range all {
		word, by, at := "denied", nameOf(a.By), a.At
		if a.Approved {
			word = "approved"
			said.Approvals++
		}
		said.Decision, said.DecidedBy, said.DecidedAt, said.DecisionReason = &word, &by, &at, a.Reason
	}
}

// nameOf is what people know somebody by.
func nameOf(a api.Actor) string { return cmp.Or(a.Subject, a.KeyName, a.KeyID) }

// changedAt is when something happened to a run last.
func changedAt(r runs.Run) time.Time {
	times := []time.Time{r.CreatedAt, r.StartedAt, r.PlannedAt, r.DecidedAt, r.AppliedAt, r.FinishedAt}
	return slices.MaxFunc(times, time.Time.Compare)
}

// orNil makes an empty text none.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// planOf is a list of changes in the form in which tools say it.
func planOf(all api.RunChanges, isMasked bool) *api.ProjectPlan {
	plan := &api.ProjectPlan{
		ResourceChanges: changesOf(all.Changes), ResourceDrift: changesOf(all.Drift),
		OutputChanges: map[string]api.ProjectOutputChange{}, Masked: isMasked, Cut: all.Cut,
	}
	for _, o := range all.Outputs {
		plan.OutputChanges[o.Name] = api.ProjectOutputChange{Actions: o.Actions, Sensitive: o.Sensitive, Before: o.Before,
			After: o.After}
	}
	return plan
}

func changesOf(all []api.RunChange) []api.ProjectChange {
	said := []api.ProjectChange{}
	for _, c := range all {
		said = append(said, api.ProjectChange{
			Address: c.Address, PreviousAddress: c.Previous, Deposed: c.Deposed, Mode: c.Mode, Type: c.Type, Name: c.Name,
			ProviderName: c.Provider, ActionReason: c.Reason,
			Change: api.ProjectChangeValues{Actions: c.Actions, Before: c.Before, After: c.After, AfterUnknown: c.Unknown},
		})
	}
	return said
}

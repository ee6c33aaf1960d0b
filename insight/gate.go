package insight

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/runs"
)

// maxDetails is how much is listed of what a gate holds a plan for.
const maxDetails = 10

// Held implements runs.Insights.
func (s *Service) Held(ctx context.Context, plan runs.PlanJSON, gates runs.Gates) ([]api.GateReason, error) {
	raw, err := s.of(ctx, s.gating, plan)
	if err != nil {
		return nil, err
	}
	var all api.Insight
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	return heldBy(all, gates)
}

// heldBy says what of an insight the gates hold a plan for. Texts of it have no values of the plan.
func heldBy(all api.Insight, gates runs.Gates) (reasons []api.GateReason, err error) {
	hold := func(gate, reason string, details []string) {
		reasons = append(reasons, api.GateReason{Gate: gate, Reason: reason,
			Details: details[:min(len(details), maxDetails)]})
	}
	if n := graveIssues(all, gates.Severity); n > 0 {
		hold(runs.GateFindings, findingsText(n, gates.Severity), findingsAt(all, gates.Severity))
	}
	if n := len(all.Broken); n > 0 && gates.Severity != "" {
		var names []string
		for _, b := range all.Broken {
			names = append(names, b.Rule)
		}
		hold(runs.GateRules, brokenText(n), names)
	}
	if n := len(all.Facts.Irreversible); n > 0 && gates.Irreversible {
		var dangers []string
		for _, d := range all.Facts.Irreversible {
			dangers = append(dangers, d.Resource+": "+d.Reason)
		}
		hold(runs.GateIrreversible, undoneText(n), dangers)
	}
	if gates.MonthlyCost > 0 {
		more, err := cost.ParseDelta(all.Costs.DeltaMonthly)
		if err != nil {
			return nil, err
		}
		if !(more <= float64(gates.MonthlyCost)) { // what is no number is held, too
			hold(runs.GateCost, fmt.Sprintf("a cost of %s a month, where $%d more are let through",
				all.Costs.DeltaMonthly, gates.MonthlyCost), nil)
		}
	}
	if all.Unread {
		hold(runs.GateUnread, "the plan has more changes than are looked at, or planning failed", nil)
	}
	return reasons, nil
}

// graveIssues counts what was found of a severity, or a graver one, and not waived. Issues are listed
// the gravest first, so of a list that was cut none of these is missing while a lesser one is there.
func graveIssues(all api.Insight, severity string) (n int) {
	for _, issue := range all.Security.Issues {
		if severity != "" && rules.AtLeast(issue.Severity, severity) {
			n++
		}
	}
	return n
}

// findingsAt lists findings by their rules: a description may have more of the plan than is shown to
// whoever sees no values.
func findingsAt(all api.Insight, severity string) (list []string) {
	for _, f := range all.Findings {
		if Grave(f, severity) {
			list = append(list, fmt.Sprintf("%s: %s (%s)", f.Resource, f.Title, f.Rule))
		}
	}
	return list
}

package insight

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/runs"
)

// maxDetails is how much is listed of what a gate holds a plan for.
const maxDetails = 10

// Policies implements runs.Insights.
func (s *Service) Policies(ctx context.Context, org uuid.UUID, workspace string) (runs.Policies, error) {
	asked, err := s.inForce(ctx, org, workspace)
	if err != nil {
		return nil, err
	}
	return inForce{asked}, nil
}

// inForce is a runs.Policies.
type inForce struct{ policy.InForce }

// Gates implements runs.Policies.
func (f inForce) Gates() bool { return f.Strictest() != policy.Advise }

// Refuses implements runs.Policies.
func (f inForce) Refuses() bool { return f.Strictest() == policy.Refuse }

// Held implements runs.Insights.
func (s *Service) Held(ctx context.Context, plan runs.PlanJSON, gates runs.Gates, by runs.Policies) (runs.Verdict,
	error) {
	asked, _ := by.(inForce)
	raw, err := s.of(ctx, s.gating, plan, asked.InForce)
	if err != nil {
		return runs.Verdict{}, err
	}
	var all api.Insight
	if err := json.Unmarshal(raw, &all); err != nil {
		return runs.Verdict{}, err
	}
	verdict := runs.Verdict{Refused: refusedBy(all)}
	if verdict.Reasons, err = heldBy(ctx, all, gates); err != nil || plan.Results == nil {
		return verdict, err
	}
	plan.Results = nil
	without, err := s.heldWithout(ctx, plan, gates, asked.InForce)
	verdict.Reasons = both(without, verdict.Reasons)
	return verdict, err
}

// heldWithout is what holds a plan without what other programs say, which may be that it costs nothing.
func (s *Service) heldWithout(ctx context.Context, plan runs.PlanJSON, gates runs.Gates,
	asked policy.InForce) ([]api.GateReason, error) {
	raw, _, err := s.facts(ctx, s.gating, plan, asked)
	if err != nil {
		return nil, err
	}
	var all api.Insight
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	return heldBy(ctx, all, gates)
}

// both are the reasons of two lists, each once.
func both(list, more []api.GateReason) []api.GateReason {
	for _, one := range more {
		if !slices.ContainsFunc(list, func(r api.GateReason) bool { return r.Gate == one.Gate && r.Reason == one.Reason }) {
			list = append(list, one)
		}
	}
	return list
}

// refusedBy says why a plan is not to be applied, whoever says yes to it; empty where no bundle says so.
func refusedBy(all api.Insight) string {
	for _, p := range all.Policies {
		switch name := policyName(p); {
		case p.Enforce != string(policy.Refuse):
		case p.Denied > 0:
			return "the policies " + name + " deny it: " + strings.Join(deniedBy(all, name), "; ")
		case p.Broken > 0:
			return "the policies " + name + " could not be asked"
		}
	}
	return ""
}

func policyName(p api.InsightPolicy) string { return Own{Bundle: &p}.name() }

// deniedBy lists some of what the rules of a bundle found.
func deniedBy(all api.Insight, name string) (list []string) {
	for _, f := range all.Findings {
		if f.Policy == name && f.Waived == nil && !f.Standing && len(list) < maxDetails {
			list = append(list, placed(f))
		}
	}
	return list
}

// placed names a finding by its resource and its rule.
func placed(f api.InsightFinding) string {
	text := f.Rule
	switch {
	case f.Tool != "": // whose words a step of the run has left
		text = f.Tool + " " + f.Rule
	case f.Title != "":
		text = f.Title + " (" + f.Rule + ")"
	}
	if f.Resource != "" {
		text = f.Resource + ": " + text
	}
	return text
}

// policiesHold says which bundles hold the plan, or would refuse it.
func policiesHold(all api.Insight, hold func(gate, reason string, details []string)) {
	for _, p := range all.Policies {
		name := policyName(p)
		if p.Enforce == string(policy.Advise) {
			continue
		}
		if p.Denied > 0 {
			hold(runs.GatePolicies, countedAs(p.Denied, "finding", "findings")+" of the policies "+name, deniedBy(all, name))
		}
		if p.Broken > 0 {
			hold(runs.GateRules, brokenText(p.Broken)+" of the policies "+name, nil)
		}
	}
}

// heldBy says what of an insight the gates hold a plan for. Texts of it have no values of the plan.
func heldBy(ctx context.Context, all api.Insight, gates runs.Gates) (reasons []api.GateReason, err error) {
	hold := func(gate, reason string, details []string) {
		reasons = append(reasons, api.GateReason{Gate: gate, Reason: reason,
			Details: details[:min(len(details), maxDetails)]})
	}
	if n := graveIssues(all, gates.Severity); n > 0 {
		hold(runs.GateFindings, findingsText(n, gates.Severity), findingsAt(all, gates.Severity))
		reasons[len(reasons)-1].Severity = all.Security.Issues[0].Severity // the gravest first
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
	if n := graveOfModel(all, gates.Severity); n > 0 {
		hold(runs.GateFindings, modelText(n, gates.Severity), nil)
		reasons[len(reasons)-1].Severity = gravestOfModel(all)
	}
	if gates.Confirm != "" {
		confirm(all, gates.Confirm, func(reason string) { hold(runs.GateConfirm, reason, nil) })
	}
	policiesHold(all, hold)
	conditionHolds(ctx, all, gates.When, hold)
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

// confirm says for what findings a plan waits until somebody confirms it, that nobody would be asked about else.
func confirm(all api.Insight, severity string, wait func(reason string)) {
	if n := graveIssues(all, severity); n > 0 {
		wait(findingsText(n, severity))
	}
	if n := graveOfModel(all, severity); n > 0 {
		wait(modelText(n, severity))
	}
	if n := len(all.Broken); n > 0 {
		wait(brokenText(n))
	}
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
			list = append(list, placed(f))
		}
	}
	return list
}

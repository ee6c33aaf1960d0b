package insight

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// found is an insight with findings of these severities that count.
func found(severities ...string) (all api.Insight) {
	all.Costs.DeltaMonthly = "+$0.00"
	for i, severity := range severities {
		resource := fmt.Sprintf("aws_thing.t%d", i)
		all.Findings = append(all.Findings, api.InsightFinding{Rule: "R-1", Severity: severity, Resource: resource,
			Title: "It is open", Description: "it has hunter2"})
		all.Security.Issues = append(all.Security.Issues, api.InsightIssue{Severity: severity, Resource: resource})
	}
	return all
}

// TestHeldBy: what a gate names is what holds a plan, and nothing else; what could not be asked or read does.
func TestHeldBy(t *testing.T) {
	with := func(all api.Insight, change func(*api.Insight)) api.Insight {
		change(&all)
		return all
	}
	broken := with(found("low"), func(all *api.Insight) { all.Broken = []api.InsightBroken{{Rule: "R-2", Reason: "x"}} })
	danger := with(found(), func(all *api.Insight) {
		all.Facts.Irreversible = []api.InsightDanger{{Resource: "aws_db.main", Reason: "it is deleted"}}
	})
	costs := func(delta string) api.Insight {
		return with(found(), func(all *api.Insight) { all.Costs.DeltaMonthly = delta })
	}
	unread := with(found(), func(all *api.Insight) { all.Unread = true })
	critical, high := runs.Gates{Severity: "critical"}, runs.Gates{Severity: "high"}
	confirm := runs.Gates{Confirm: "high"}
	irreversible, dollars := runs.Gates{Irreversible: true}, runs.Gates{MonthlyCost: 50}
	for name, c := range map[string]struct {
		all   api.Insight
		gates runs.Gates
		want  []string
	}{
		"high below critical":      {found("high", "medium"), critical, nil},
		"high":                     {found("high", "medium"), high, []string{runs.GateFindings}},
		"critical":                 {found("critical"), high, []string{runs.GateFindings}},
		"medium":                   {found("medium"), high, nil},
		"findings without a gate":  {found("critical"), dollars, nil},
		"a rule that broke":        {broken, critical, []string{runs.GateRules}},
		"broken, other gate":       {broken, irreversible, nil},
		"irreversible":             {danger, irreversible, []string{runs.GateIrreversible}},
		"irreversible, other gate": {danger, high, nil},
		"dearer":                   {costs("+$50.01"), dollars, []string{runs.GateCost}},
		"not dearer":               {costs("+$50.00"), dollars, nil},
		"cheaper":                  {costs("-$500.00"), dollars, nil},
		"no number":                {costs("+$NaN"), dollars, []string{runs.GateCost}},
		"unread":                   {unread, dollars, []string{runs.GateUnread}},
		"unread, other gate":       {unread, irreversible, []string{runs.GateUnread}},
		"to be confirmed":          {found("high"), confirm, []string{runs.GateConfirm}},
		"nothing to confirm":       {found("medium"), confirm, nil},
		"broken, to be confirmed":  {broken, confirm, []string{runs.GateConfirm}},
	} {
		reasons, err := heldBy(t.Context(), c.all, c.gates)
		var kinds []string
		for _, r := range reasons {
			kinds = append(kinds, r.Gate)
		}
		if err != nil || !slices.Equal(kinds, c.want) {
			t.Errorf("%s: held by %v, %v", name, kinds, err)
		}
	}
	if _, err := heldBy(t.Context(), costs("?"), dollars); err == nil {
		t.Error("a cost that can't be read is let through")
	}
}

// TestHeldByDetails: details name rules and resources, some of them, and no values.
func TestHeldByDetails(t *testing.T) {
	all := found(slices.Repeat([]string{"high"}, 12)...)
	all.Findings[0].Standing = true // and so no issue
	all.Security.Issues = all.Security.Issues[1:]
	reasons, err := heldBy(t.Context(), all, runs.Gates{Severity: "high"})
	if err != nil || len(reasons) != 1 || reasons[0].Reason != "11 findings of high or critical severity" ||
		len(reasons[0].Details) != maxDetails || reasons[0].Details[0] != "aws_thing.t1: It is open (R-1)" {
		t.Errorf("%+v, %v", reasons, err)
	}
}

// TestHeldByModel: what a model finds has its severity, by which more people, or certain ones, have to approve a plan.
func TestHeldByModel(t *testing.T) {
	for want, severities := range map[string][]string{"critical": {"high", "critical"}, "high": {"high", "medium"}} {
		all := found()
		all.Model = &api.InsightModel{Model: "m"}
		for _, severity := range severities {
			all.Model.Findings = append(all.Model.Findings, api.InsightIssue{Severity: severity})
		}
		reasons, err := heldBy(t.Context(), all, runs.Gates{Severity: "high"})
		if err != nil || len(reasons) != 1 || reasons[0].Severity != want {
			t.Errorf("%v: held by %+v, %v", severities, reasons, err)
		}
	}
}

package insight

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// A workspace's own condition holds a plan, and one that breaks, or asks for what is not known, does too and says so.
func TestConditionsHold(t *testing.T) {
	all := api.Insight{
		Facts: api.InsightFacts{Counts: api.RunCounts{Add: 4, Destroy: 9, Replace: 3, Any: true},
			Changes: []api.InsightChange{{Type: "aws_iam_role"}}, Irreversible: []api.InsightDanger{{}}},
		Costs: api.InsightCosts{TotalMonthly: "$500.00", DeltaMonthly: "-$20.50", Unpriced: []string{"a.b"}},
		Findings: []api.InsightFinding{{Severity: "high"}, {Severity: "high", Waived: &api.InsightWaiver{}},
			{Severity: "low", Standing: true}},
	}
	for text, says := range map[string]string{
		"":                                   "",
		"facts.delete > 5 || cost.delta > 0": "its condition holds: facts.delete > 5",
		"facts.delete > 6 || cost.delta > 0": "",
		"facts.create == 1 && facts.replace == 3 && facts.irreversible == 1 && cost.unpriced == 1": "its condition holds",

		"findings.high == 1 && findings.low == 0":   "its condition holds",
		"cost.total == 500.0 && cost.delta < -20.0": "its condition holds",

		`"aws_iam_role" in facts.types`: "its condition holds",
		"facts.delete / facts.move > 1": "could not be asked: division",
		"facts.gone > 1":                "could not be asked: undeclared",
	} {
		reasons, err := heldBy(t.Context(), all, runs.Gates{When: text})
		if err != nil || (len(reasons) > 0) != (says != "") || says != "" &&
			(reasons[0].Gate != runs.GateCondition || !strings.Contains(reasons[0].Reason, says)) {
			t.Errorf("%s: %+v, %v", text, reasons, err)
		}
	}
	all.Cut = true
	if reasons, err := heldBy(t.Context(), all, runs.Gates{When: `"x" in facts.types`}); err != nil || len(reasons) != 1 ||
		!strings.Contains(reasons[0].Reason, "could not be asked") {
		t.Errorf("%+v, %v", reasons, err)
	}
}

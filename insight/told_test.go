package insight

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// What a service outside is told has no text that a rule has made of values, and is bounded.
func TestToldHasNoValues(t *testing.T) {
	const value = "hunter2"
	all := api.Insight{Summary: "finds " + value}
	for i := range 500 {
		address := fmt.Sprintf("a.b%d", i)
		all.Findings = append(all.Findings, api.InsightFinding{Rule: "R", Severity: "high", Resource: address,
			Description: "it is " + value})
		all.Security.Issues = append(all.Security.Issues, api.InsightIssue{Severity: "high", Resource: address,
			Description: "it is " + value})
		all.Broken = append(all.Broken, api.InsightBroken{Rule: "B", Reason: "at " + value})
		all.Facts.Changes = append(all.Facts.Changes, api.InsightChange{Address: address, Kind: "update",
			Attributes: strings.Split(strings.Repeat("x", 300), "")})
	}
	told(&all)
	raw, err := json.Marshal(all)
	if err != nil || strings.Contains(string(raw), value) {
		t.Errorf("%v: it tells a value: %.300s", err, raw)
	}
	if !all.Cut || len(all.Findings) != maxTold || len(all.Facts.Changes) != maxTold || len(raw) > 64<<10 {
		t.Errorf("%d findings and %d changes in %d bytes, cut: %t", len(all.Findings), len(all.Facts.Changes),
			len(raw), all.Cut)
	}
	if !strings.Contains(all.Summary, "Rules that could not be asked") {
		t.Errorf("the summary is %q", all.Summary)
	}
}

// However much other programs have found, what rules have found is told first.
func TestToldHasOwnFindingsFirst(t *testing.T) {
	var all api.Insight
	for range 3 * maxTold {
		all.Findings = append(all.Findings, api.InsightFinding{Severity: "critical", Tool: "scanner"})
	}
	all.Findings = append(all.Findings, api.InsightFinding{Rule: "R1", Severity: "high"},
		api.InsightFinding{Rule: "R2", Severity: "low"})
	told(&all)
	if len(all.Findings) != maxTold || all.Findings[0].Rule != "R1" || all.Findings[1].Rule != "R2" || !all.Cut {
		t.Errorf("%d findings, cut: %t, %+v", len(all.Findings), all.Cut, all.Findings[:2])
	}
}

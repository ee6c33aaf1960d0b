package insight_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/runs"
)

// planLeaving is the plan of a run whose steps have left these files: names and texts.
func planLeaving(digest string, resources []insighttest.Resource, files ...string) runs.PlanJSON {
	raw := insighttest.JSON(resources...)
	plan := runs.PlanJSON{Org: uuid.New(), Digest: digest, Size: int64(len(raw)),
		Open: func() io.Reader { return strings.NewReader(string(raw)) }}
	var left api.OtherResults
	for i := 0; i < len(files); i += 2 {
		left.Files = append(left.Files, api.OtherFile{Name: files[i], Text: files[i+1]})
	}
	if len(files) == 0 {
		return plan
	}
	text, _ := json.Marshal(left)
	plan.Results = &runs.Results{Digest: string(text), Size: int64(len(text)),
		Open: func() io.Reader { return strings.NewReader(string(text)) }}
	return plan
}

// kinds are the gates that hold a plan.
func kinds(t *testing.T, s *insight.Service, plan runs.PlanJSON, gates runs.Gates) string {
	t.Helper()
	by, err := s.Policies(t.Context(), plan.Org, plan.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Held(t.Context(), plan, gates, by)
	if err != nil || got.Refused != "" {
		t.Fatal(got.Refused, err)
	}
	var all []string
	for _, r := range got.Reasons {
		all = append(all, r.Gate)
	}
	return strings.Join(all, " ")
}

func testdata(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestResultsOfRuns: what other programs have found while a run planned may hold its plan, and lets none through that
// would be held without it.
func TestResultsOfRuns(t *testing.T) {
	fine := []insighttest.Resource{{Address: "acme_thing.x", After: object{"name": "x"}}}
	trivy, free := testdata(t, "others/testdata/trivy.sarif"), `{"version":"0.2","currency":"USD","projects":[{
		"pastBreakdown":{"resources":[{"name":"aws_db_instance.main","monthlyCost":"0"}]},
		"breakdown":{"resources":[{"name":"aws_db_instance.main","monthlyCost":"0"},{"name":"aws_instance.web","monthlyCost":"0"}]}}]}`
	dear := strings.ReplaceAll(testdata(t, "infracost/testdata/infracost.json"), "aws_instance.web", "acme_thing.x")
	s := insight.NewService(nil, nil, nil, today)
	high, dollars := runs.Gates{Severity: "high"}, runs.Gates{MonthlyCost: 20}
	for name, c := range map[string]struct {
		plan  runs.PlanJSON
		gates runs.Gates
		want  string
	}{
		"nothing found":      {planLeaving("a", fine), high, ""},
		"found":              {planLeaving("b", fine, "trivy.sarif", trivy), high, runs.GateFindings},
		"none at fault":      {planLeaving("c", fine, "x.sarif", `{"version":"2.1.0","runs":[]}`), high, ""},
		"no SARIF":           {planLeaving("d", fine, "trivy.sarif", "<html>"), high, runs.GateRules},
		"no costs":           {planLeaving("e", fine, "infracost.json", "[]"), high, runs.GateRules},
		"one of two is none": {planLeaving("f", fine, "a.sarif", "", "b.sarif", trivy), high, "findings rules"},
		"dear by Infracost":  {planLeaving("g", fine, "infracost.json", dear), dollars, runs.GateCost},
		"free by Infracost":  {planLeaving("h", typical(), "infracost.json", free), dollars, runs.GateCost},
		"a condition on costs": {planLeaving("i", typical(), "infracost.json", free),
			runs.Gates{When: "cost.delta > 20.0"}, "condition"},
		"a condition on what is free": {planLeaving("j", typical(), "infracost.json", free),
			runs.Gates{When: "cost.delta < 20.0"}, "condition"},
	} {
		if got := kinds(t, s, c.plan, c.gates); got != c.want {
			t.Errorf("%s: held by %q, not by %q", name, got, c.want)
		}
	}
}

// TestResultsAreShown: they are among the findings, as those of their program, and whatever words they have, a service
// outside is told none.
func TestResultsAreShown(t *testing.T) {
	plan := planLeaving("a", typical(), "trivy.sarif", testdata(t, "others/testdata/trivy.sarif"),
		"infracost.json", testdata(t, "infracost/testdata/infracost.json"))
	s := insight.NewService(nil, nil, nil, today)
	all, err := s.Told(t.Context(), plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(all)
	if !strings.Contains(string(raw), `"tool":"Trivy"`) || strings.Contains(string(raw), "An ingress security group") ||
		strings.Contains(string(raw), "avd.aquasec.com") {
		t.Errorf("a service outside is told %s", raw)
	}
	if !strings.Contains(string(raw), `"Infracost"`) {
		t.Errorf("no costs of Infracost: %s", raw)
	}
}

package others_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/others"
)

// What a run's steps have left is read file by file: one that is none of its kind counts as a rule that broke, and
// however much it is, so much is read.
func TestFilesOfRuns(t *testing.T) {
	many := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[` +
		strings.TrimSuffix(strings.Repeat(`{"ruleId":"a"},`, 3000), ",") + `]}]}`
	given, err := json.Marshal(api.OtherResults{Files: []api.OtherFile{{Name: "a.sarif", Text: many},
		{Name: "b.sarif.json", Text: many}, {Name: "c.sarif", Text: "{"}, {Name: "infracost-base.json", Text: costing(`"3"`)},
		{Name: "infracost.json", Text: "{}"}, {Name: "infracost.sarif.json", Text: `{"version":"2.1.0","runs":[]}`}}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := others.ReadRun(strings.NewReader(string(given)))
	if err != nil || found.Costs["a.b"].After != 3 {
		t.Fatal(found.Costs, err)
	}
	var broken []string
	all, cut := 0, false
	for _, one := range found.Results {
		all += len(one.Findings)
		cut = cut || one.Cut
		for _, b := range one.Broken {
			broken = append(broken, b.Rule)
		}
	}
	if got := strings.Join(broken, " "); all != 5000 || !cut || got != "c.sarif infracost.json" {
		t.Errorf("%d findings, cut: %t, broken: %s", all, cut, got)
	}
	for _, text := range []string{"", "[]", `{"files":3}`} {
		if found, err := others.ReadRun(strings.NewReader(text)); err != nil || len(found.Results) != 1 ||
			len(found.Results[0].Broken) != 1 {
			t.Errorf("%q: %+v, %v", text, found, err)
		}
	}
}

// A little text makes many values, which would take a hundred times as much memory: that is not read at all, however
// it is written.
func TestManyValuesOfRuns(t *testing.T) {
	empty := strings.TrimSuffix(strings.Repeat("{},", 1<<20), ",")
	results := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[` + empty + `]}]}`
	given, err := json.Marshal(api.OtherResults{Files: []api.OtherFile{{Name: "a.sarif", Text: results}}})
	if err != nil {
		t.Fatal(err)
	}
	hidden := strings.NewReplacer(`{}`, `\u007b}`, `},`, `}\u002c`).Replace(string(given))
	files := `{"files":[` + strings.TrimSuffix(strings.Repeat("{},", 101), ",") + `]}`
	for _, text := range []string{string(given), hidden, `{"files":[` + empty + `]}`, files} {
		found, err := others.ReadRun(strings.NewReader(text))
		if err != nil || len(found.Results) != 1 || len(found.Results[0].Broken) != 1 ||
			!strings.Contains(found.Results[0].Broken[0].Reason, "too many") || len(found.Results[0].Findings) > 0 {
			t.Errorf("%.40s: %d results, %v", text, len(found.Results), err)
		}
	}
}

// A file of Infracost that is too long drops itself alone, and leaves the others what they may have.
func TestManyValuesOfInfracost(t *testing.T) {
	long := `{"version":"0.2","projects":[` + strings.TrimSuffix(strings.Repeat("{},", 1<<18), ",") + `]}`
	given, err := json.Marshal(api.OtherResults{Files: []api.OtherFile{
		{Name: "a.sarif", Text: `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"ruleId":"a"}]}]}`},
		{Name: "infracost-a.json", Text: long}, {Name: "infracost-b.json", Text: costing(`"3"`)}}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := others.ReadRun(strings.NewReader(string(given)))
	if err != nil || found.Costs["a.b"].After != 3 || len(found.Results) != 2 || len(found.Results[0].Findings) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if got := found.Results[1].Broken; len(got) != 1 || got[0].Rule != "infracost-a.json" {
		t.Errorf("%+v", got)
	}
}

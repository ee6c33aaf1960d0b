package rules_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/insight/rules"
)

// example is a resource that a rule finds fault with, and one that it lets be.
type example struct {
	Rule   string         `json:"rule"`
	Type   string         `json:"type"`
	Fails  map[string]any `json:"fails"`
	Passes map[string]any `json:"passes"`
}

func examples(t testing.TB) (list []example) {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func builtin(t testing.TB) *rules.Set {
	t.Helper()
	set, err := rules.Builtin(rules.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// found are the rules that find fault with resources, each with the resource.
func found(t testing.TB, set *rules.Set, raw []byte) (list []string) {
	t.Helper()
	plan, err := facts.ReadBytes(raw, facts.Limits{Whole: true})
	if err != nil {
		t.Fatal(err)
	}
	findings, broken, err := set.Ask(t.Context(), plan)
	if err != nil || len(broken) > 0 {
		t.Fatalf("%v, broken: %v", err, broken)
	}
	for _, f := range findings {
		list = append(list, f.Rule.ID+" "+f.Resource)
	}
	return list
}

// TestEveryRuleBothWays: each rule has an example of both kinds.
func TestEveryRuleBothWays(t *testing.T) {
	set, shown := builtin(t), map[string]bool{}
	for _, e := range examples(t) {
		shown[e.Rule] = true
		address := e.Type + ".x"
		want := e.Rule + " " + address
		bad := insighttest.JSON(insighttest.Resource{Address: address, After: e.Fails})
		if got := found(t, set, bad); !slices.Contains(got, want) {
			t.Errorf("%s lets its failing plan pass; found %v", e.Rule, got)
		}
		good := insighttest.JSON(insighttest.Resource{Address: address, After: e.Passes})
		if got := found(t, set, good); slices.Contains(got, want) {
			t.Errorf("%s finds fault with its passing plan", e.Rule)
		}
		gone := insighttest.JSON(insighttest.Resource{Address: address, Before: e.Fails, Actions: []string{"delete"}})
		if got := found(t, set, gone); len(got) > 0 {
			t.Errorf("%s finds fault with what is deleted: %v", e.Rule, got)
		}
	}
	for _, rule := range set.Rules() {
		if !shown[rule.ID] {
			t.Errorf("%s has no example", rule.ID)
		}
	}
}

// TestRulesAreDescribed: whoever reads a finding has all there is to know.
func TestRulesAreDescribed(t *testing.T) {
	all, kinds := builtin(t).Rules(), map[string]int{}
	if len(all) < 60 {
		t.Errorf("there are %d rules", len(all))
	}
	for _, r := range all {
		kinds[r.Kind]++
		if !strings.HasPrefix(r.ID, "HF-") || r.Title == "" || r.Severity == "" || r.Recommendation == "" || r.Link == "" ||
			len(r.Types) == 0 {
			t.Errorf("%+v lacks something", r)
		}
	}
	for _, kind := range []string{"networking", "access", "encryption", "credentials", "logging"} {
		if kinds[kind] < 5 {
			t.Errorf("%d rules are about %s", kinds[kind], kind)
		}
	}
	if len(kinds) != 5 {
		t.Errorf("the kinds are %v", kinds)
	}
}

// TestUnknownIsNoFault: of what is known after the apply only, nothing is said.
func TestUnknownIsNoFault(t *testing.T) {
	raw := insighttest.JSON(insighttest.Resource{Address: "aws_ebs_volume.x", After: map[string]any{"size": 1},
		Unknown: map[string]any{"encrypted": true}})
	if got := found(t, builtin(t), raw); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

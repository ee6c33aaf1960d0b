package insight_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/insight/rules"
)

// policies compiles one file.
func policies(t testing.TB, text string) []insight.Own {
	t.Helper()
	set, err := rules.Compile(fstest.MapFS{"own.rego": {Data: []byte(text)}}, rules.Limits{Rule: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return []insight.Own{{Set: set}}
}

// TestOwnPolicies: policies with conftest's conventions count as they are, those of Rego's version
// 0 too.
func TestOwnPolicies(t *testing.T) {
	plan := insighttest.JSON(insighttest.Resource{Address: "acme_thing.x", After: object{"name": "x", "size": 3}})
	for name, test := range map[string]struct {
		policy string
		want   []api.InsightFinding
	}{
		"a text": {`package main
deny contains msg if { input.resource_changes[_].change.after.size > 2; msg := "too large" }`,
			[]api.InsightFinding{{Rule: "main", Severity: "high", Kind: "policy", Description: "too large"}}},
		"version 0": {`package main
deny[msg] { input.planned_values.root_module.resources[_].values.size > 2; msg := "too large" }
warn[msg] { msg := "hm" }`,
			[]api.InsightFinding{{Rule: "main", Severity: "high", Kind: "policy", Description: "too large"},
				{Rule: "main", Severity: "low", Kind: "policy", Description: "hm"}}},
		"an object with metadata": {`# METADATA
# title: Things are small
# related_resources:
# - https://example.com/small
# custom:
#   id: ACME-1
#   severity: critical
#   recommendation: Make it smaller.
package acme.small
violation_large contains {"msg": "too large", "resource": c.address} if {
  some c in input.resource_changes
  c.change.after.size > 2
}`, []api.InsightFinding{{Rule: "ACME-1", Severity: "critical", Kind: "policy", Resource: "acme_thing.x",
			Title: "Things are small", Description: "too large", Recommendation: "Make it smaller.",
			Link: "https://example.com/small"}}},
		"nothing": {`package main
deny contains "never" if { input.resource_changes[_].change.after.size > 9 }`, []api.InsightFinding{}},
	} {
		all := of(t, engine(t), plan, insight.Options{Own: policies(t, test.policy)})
		if diff := cmp.Diff(test.want, all.Findings); diff != "" || len(all.Broken) > 0 {
			t.Errorf("%s: %s %+v", name, diff, all.Broken)
		}
	}
}

// TestBrokenRulesGate: a rule that could not be asked is no rule that has found nothing.
func TestBrokenRulesGate(t *testing.T) {
	plan := insighttest.JSON(insighttest.Resource{Address: "acme_thing.x", After: object{"name": "very private"}})
	for name, policy := range map[string]string{
		"slow":         `deny contains "x" if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j == -1 }`,
		"a conflict":   "size := 1 if true\nsize := 2 if true\ndeny contains \"x\" if { size > 3 }",
		"a number":     `deny contains 3 if true`,
		"an object":    `deny := {"a": 1}`,
		"without text": `deny contains {"resource": "x"} if true`,
		"too many":     `deny contains sprintf("%d", [i]) if { some i in numbers.range(1, 5000) }`,
	} {
		all := of(t, engine(t), plan, insight.Options{Own: policies(t, "package main\n"+policy)})
		if len(all.Broken) != 1 || !all.Security.ShouldApprove || len(all.Reasons) == 0 {
			t.Errorf("%s: %+v", name, all.Broken)
		}
	}
}

// TestPoliciesReachNothing: what could carry a plan away, or make a policy say something else each
// time, is no function that there is.
func TestPoliciesReachNothing(t *testing.T) {
	for _, call := range []string{`http.send({"method": "get", "url": "http://127.0.0.1"})`, `opa.runtime()`,
		`net.lookup_ip_addr("example.com")`, `rand.intn("x", 3)`} {
		files := fstest.MapFS{"a.rego": {Data: []byte("package main\ndeny contains \"x\" if { " + call + " }")}}
		if _, err := rules.Compile(files, rules.Limits{}); err == nil {
			t.Errorf("%s can be called", call)
		}
	}
}

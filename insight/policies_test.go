package insight_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpolicy"
)

// bundlesOf is a service of bundles in memory, and one of insights over a plan with a thing of size 3.
func bundlesOf(t *testing.T) (*policy.Service, *insight.Service, runs.PlanJSON, auth.Principal) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	kept := policy.NewService(policy.Deps{Store: sqlpolicy.New(db), Now: today})
	raw := insighttest.JSON(insighttest.Resource{Address: "acme_thing.x", After: object{"name": "x", "size": 3}})
	me := auth.Principal{Org: uuid.New(), KeyID: "me", Grant: auth.Grant{Role: auth.Owner}}
	plan := runs.PlanJSON{Org: me.Org, Workspace: "prod", Digest: "a", Size: int64(len(raw)),
		Open: func() io.Reader { return strings.NewReader(string(raw)) }}
	return kept, insight.NewService(nil, kept, nil, today), plan, me
}

func regoFile(text string) policy.File { return policy.File{Path: "a.rego", Content: text} }

const largeRego = `package acme.large
deny contains {"msg": "too large",
	"resource": c.address} if { some c in input.resource_changes; c.change.after.size > 2 }
test_fine if { count(deny) == 0 with input as {"resource_changes": []} }
`

// held asks a plan's gates as a run that has none of its own.
func held(t *testing.T, s *insight.Service, plan runs.PlanJSON) runs.Verdict {
	t.Helper()
	by, err := s.Policies(t.Context(), plan.Org, plan.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Held(t.Context(), plan, runs.Gates{}, by)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestBundlesEnforce: what a bundle denies is a finding, holds the plan or refuses it, until somebody waives it.
func TestBundlesEnforce(t *testing.T) {
	kept, s, plan, me := bundlesOf(t)
	push := func(workspace, name string, enforce policy.Enforcement, files ...policy.File) {
		t.Helper()
		if _, err := kept.Push(t.Context(), me, workspace, name, files, enforce, ""); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := s.Policies(t.Context(), plan.Org, plan.Workspace)
	if got := held(t, s, plan); len(got.Reasons) > 0 || got.Refused != "" || before.Digest() != "" {
		t.Errorf("without policies: %+v", got)
	}
	push("other", "large", policy.Refuse, regoFile(largeRego))
	push("", "large", policy.Advise, regoFile(largeRego))
	if got := held(t, s, plan); len(got.Reasons) > 0 || got.Refused != "" {
		t.Errorf("advise: %+v", got)
	}
	push("", "large", policy.Hold, regoFile(largeRego))
	if got := held(t, s, plan); len(got.Reasons) != 1 || got.Reasons[0].Gate != runs.GatePolicies ||
		got.Reasons[0].Reason != "1 finding of the policies large" || len(got.Reasons[0].Details) != 1 {
		t.Errorf("hold: %+v", got)
	}
	push("prod", "large", policy.Refuse, regoFile(largeRego))
	if got := held(t, s, plan); !strings.Contains(got.Refused, "prod/large deny it: acme_thing.x: acme.large") {
		t.Errorf("refuse: %+v", got)
	}
	push("prod", "let", policy.Advise, policy.File{Path: policy.WaiversFile, Content: `waivers:
  - {rule: acme.large, resource: "*.x", owner: ann, reason: it has to be, expires: 2099-01-01}
`})
	if got := held(t, s, plan); len(got.Reasons) > 0 || got.Refused != "" {
		t.Errorf("waived: %+v", got)
	}
}

// TestNarrowWaivers: who may change the bundles of some workspaces only lets nothing be that holds for all of them.
func TestNarrowWaivers(t *testing.T) {
	kept, s, plan, me := bundlesOf(t)
	waivers := policy.File{Path: policy.WaiversFile, Content: `waivers:
  - {rule: acme.large, resource: "*", owner: ann, reason: it has to be, expires: 2099-01-01}
`}
	narrow := me
	patterns, err := auth.ParsePatterns("prod")
	if err != nil {
		t.Fatal(err)
	}
	narrow.States = patterns
	push := func(by auth.Principal, workspace, name string, enforce policy.Enforcement, file policy.File) {
		t.Helper()
		if _, err := kept.Push(t.Context(), by, workspace, name, []policy.File{file}, enforce, ""); err != nil {
			t.Fatal(err)
		}
	}
	push(narrow, "prod", "large", policy.Refuse, regoFile(largeRego))
	push(narrow, "prod", "let", policy.Advise, waivers)
	if got := held(t, s, plan); got.Refused != "" {
		t.Errorf("the workspace's own: %+v", got)
	}
	push(me, "", "large", policy.Refuse, regoFile(largeRego))
	if got := held(t, s, plan); !strings.Contains(got.Refused, "large deny it") {
		t.Errorf("the organization's is waived by who may not change it: %+v", got)
	}
	push(me, "prod", "let", policy.Advise, waivers)
	if got := held(t, s, plan); got.Refused != "" {
		t.Errorf("by who may: %+v", got)
	}
	push(narrow, "prod", "let", policy.Advise, waivers) // the same is no other version
	if got := held(t, s, plan); got.Refused != "" {
		t.Errorf("pushed again by who may not: %+v", got)
	}
}

// TestBundlesThatBreak: a rule that breaks, takes too much memory or too long is a reason to hold where its
// bundle gates, and says so.
func TestBundlesThatBreak(t *testing.T) {
	for name, c := range map[string]struct{ rego, says string }{
		"two values": {`package p
deny := x if { x := input.resource_changes[_].change.after[_] }`, "1 rule that could not be asked"},
		"memory": {`package p
deny contains "x" if {
  a := numbers.range(1, 200000000)
  count(a) == 1
}`, "1 rule that could not be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "memory" {
				suite.Deep(t) // it takes all the memory and time that a rule gets
			}
			kept, s, plan, me := bundlesOf(t)
			if _, err := kept.Push(t.Context(), me, "", "base", []policy.File{regoFile(c.rego)}, policy.Hold, ""); err != nil {
				t.Fatal(err)
			}
			got := held(t, s, plan)
			if len(got.Reasons) != 1 || got.Reasons[0].Gate != runs.GateRules || !strings.Contains(got.Reasons[0].Reason,
				c.says) {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
}

// TestBundlesInInsight: an insight says which bundles it was made with, at which version, and which finding is
// whose; what it was made with before is not remembered for others.
func TestBundlesInInsight(t *testing.T) {
	kept, _, plan, me := bundlesOf(t)
	s := insight.NewService(planOf{plan}, kept, nil, today)
	for _, want := range []string{"", "large 1 hold 1", "large 2 refuse 1"} {
		raw, err := s.OfRun(t.Context(), me, "run")
		var all api.Insight
		if err == nil {
			err = json.Unmarshal(raw, &all)
		}
		text := ""
		for _, p := range all.Policies {
			text += strings.Join([]string{p.Name, string(rune('0' + p.Version)), p.Enforce, string(rune('0' + p.Denied))}, " ")
		}
		if err != nil || text != want || want != "" && (len(all.Findings) != 1 || all.Findings[0].Policy != "large") {
			t.Errorf("it has %q, %+v, %v", text, all.Findings, err)
		}
		enforce := policy.Hold
		if want != "" {
			enforce = policy.Refuse
		}
		if _, err := kept.Push(t.Context(), me, "", "large", []policy.File{regoFile(largeRego)}, enforce, ""); err != nil {
			t.Fatal(err)
		}
	}
}

type planOf struct{ plan runs.PlanJSON }

// PlanJSON implements insight.Plans.
func (p planOf) PlanJSON(context.Context, auth.Principal, string) (runs.PlanJSON, error) {
	return p.plan, nil
}

package runs_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// looks is what is found out of every plan.
type looks struct {
	reasons []api.GateReason
	refused string
	err     error
	asked   runs.Gates
	plan    string
	rules   bundles
}

// bundles are policies, by what they do to a plan: holds, or refuses.
type bundles string

// Digest implements runs.Policies.
func (b bundles) Digest() string { return string(b) }

// Gates implements runs.Policies.
func (b bundles) Gates() bool { return b != "" }

// Refuses implements runs.Policies.
func (b bundles) Refuses() bool { return b == "refuses" }

// Policies implements runs.Insights.
func (l *looks) Policies(context.Context, uuid.UUID, string) (runs.Policies, error) {
	return l.rules, nil
}

// Held implements runs.Insights.
func (l *looks) Held(_ context.Context, plan runs.PlanJSON, gates runs.Gates, by runs.Policies) (runs.Verdict, error) {
	raw, err := io.ReadAll(plan.Open())
	l.asked, l.plan = gates, string(raw)
	if by != l.rules {
		err = errors.New("other policies than those that the pin has")
	}
	return runs.Verdict{Reasons: l.reasons, Refused: l.refused}, errors.Join(err, l.err)
}

// Told implements runs.Insights.
func (l *looks) Told(context.Context, runs.PlanJSON, runs.Policies) (*api.Insight, error) {
	return &api.Insight{Summary: "it changes something"}, l.err
}

// planIn has a run planned that would be applied without a question.
func planIn(t *testing.T, w *runworld.World, kind string) (auth.Principal, runs.Run) {
	t.Helper()
	author := auth.Principal{Org: uuid.New(), KeyID: "author", Grant: auth.Grant{Role: auth.Owner}}
	run, err := w.Create(t.Context(), author, api.RunOrder{Workspace: "prod", Kind: kind}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.Claim(t, author.Org).Plan(1)
	if run, err = w.Service.Store.Run(t.Context(), run.Ref()); err != nil {
		t.Fatal(err)
	}
	return author, run
}

// A plan of which nobody can find out what it means waits for a person, and says so.
func TestGatesAreClosedWhereInsightFails(t *testing.T) {
	full := []api.GateReason{{Gate: runs.GateFindings, Reason: "1 finding", Details: []string{strings.Repeat("x", 5000)}}}
	for name, c := range map[string]struct {
		insights runs.Insights
		gates    runs.Gates
		want     string // the gate that holds it
		says     string
	}{
		"fails": {&looks{err: errors.New("secret-of-the-plan")}, runs.Gates{Severity: "high"}, runs.GateUnread,
			"(internal)"},
		"too large": {&looks{err: fault.New(fault.PlanJSONTooLarge, "")}, runs.Gates{MonthlyCost: 1}, runs.GateUnread,
			"plan_json_too_large"},
		"no room": {&looks{err: fault.New(fault.Overloaded, "")}, runs.Gates{Irreversible: true}, runs.GateUnread,
			"overloaded"},
		"no insight": {nil, runs.Gates{Severity: "high"}, runs.GateUnread, "doesn't look"},
		"held":       {&looks{reasons: full}, runs.Gates{Severity: "high"}, runs.GateFindings, "1 finding"},
		"fine":       {&looks{}, runs.Gates{Severity: "high"}, "", ""},
		"no gate":    {&looks{reasons: full}, runs.Gates{}, "", ""},
	} {
		w := runworld.New(t)
		_, run := planIn(t, w, "apply")
		w.Insights, run.Terms.Gates = c.insights, c.gates
		verdict, err := w.Judge(t.Context(), run, bundles(""))
		held := verdict.Reasons
		var kinds, texts []string
		for _, g := range held {
			kinds, texts = append(kinds, g.Gate), append(append(texts, g.Reason), g.Details...)
		}
		text := strings.Join(texts, "")
		if err != nil || strings.Join(kinds, ",") != c.want || !strings.Contains(text, c.says) || len(text) > 1000 ||
			strings.Contains(text, "secret-of-the-plan") {
			t.Errorf("%s: %v, held by %v: %s", name, err, kinds, text)
		}
		if l, ok := c.insights.(*looks); ok && (l.plan == "") == c.gates.Any() {
			t.Errorf("%s: asked about %q", name, l.plan)
		}
	}
}

// Findings that are critical or high are looked for where a plan would be applied though nobody has asked for that, and
// hold nothing: whoever may apply confirms the plan.
func TestFindingsAreLookedForByDefault(t *testing.T) {
	found := []api.GateReason{{Gate: runs.GateConfirm, Reason: "1 finding"}}
	policy := api.GateReason{Gate: runs.GatePolicies, Reason: "1 of the policies"}
	for name, c := range map[string]struct {
		change  func(*runs.Run)
		looks   looks
		says    string
		held    int
		unasked bool
	}{
		"always":           {change: func(*runs.Run) {}, looks: looks{reasons: found}, says: "1 finding"},
		"nothing is found": {change: func(*runs.Run) {}},
		"it can't be found out": {change: func(*runs.Run) {}, looks: looks{err: fault.New(fault.PlanJSONTooLarge, "")},
			says: "plan_json_too_large"},
		"a person asks people":  {change: func(r *runs.Run) { r.Terms.AutoApply = "never" }, unasked: true},
		"a person is not asked": {change: func(r *runs.Run) { r.Order.AutoApprove = true }, unasked: true},
		"the server is not": {change: func(r *runs.Run) {
			r.Order.AutoApprove, r.Trigger, r.Terms.AutoApply = true, runs.Server(), "never"
		}, looks: looks{reasons: found}, says: "1 finding"},
		"approvals":         {change: func(r *runs.Run) { r.Terms.Approvals = 1 }, unasked: true},
		"a gate for others": {change: func(r *runs.Run) { r.Terms.Gates.Severity = "critical" }},
		"policies hold too": {change: func(r *runs.Run) {}, looks: looks{reasons: append(found, policy), rules: "holds"},
			says: "1 finding", held: 1},
		"seen before": {change: func(r *runs.Run) { r.Order.PlanRun = r.ID }, looks: looks{reasons: found}, unasked: true},
		"seen another": {change: func(r *runs.Run) { r.Order.PlanRun = "01J00000000000000000000000" },
			looks: looks{reasons: found}, says: "1 finding"},
	} {
		w := runworld.New(t)
		_, run := planIn(t, w, "apply")
		run.Terms.AutoApply = "always"
		c.change(&run)
		w.Insights = &c.looks
		verdict, err := w.Judge(t.Context(), run, c.looks.rules)
		if err != nil || !strings.Contains(verdict.Confirm, c.says) || c.says == "" && verdict.Confirm != "" ||
			len(verdict.Reasons) != c.held {
			t.Errorf("%s: %+v, %v", name, verdict, err)
		}
		if (c.looks.plan == "") != c.unasked {
			t.Errorf("%s: asked about %q", name, c.looks.plan)
		}
	}
}

// Who has gone, and who comes again, is told: nothing is decided for want of time or of memory.
func TestGatesAreAskedAgain(t *testing.T) {
	w := runworld.New(t)
	_, run := planIn(t, w, "apply")
	w.Insights, run.Terms.Gates = &looks{err: fault.New(fault.Overloaded, "")}, runs.Gates{Severity: "high"}
	if held, err := w.Judge(budget.AtOnce(t.Context()), run, bundles("")); !fault.Is(err, fault.Overloaded) ||
		held.Reasons != nil {
		t.Errorf("without memory: %v, %v", held, err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if held, err := w.Judge(gone, run, bundles("")); !errors.Is(err, context.Canceled) || held.Reasons != nil {
		t.Errorf("its executor has gone: %v, %v", held, err)
	}
}

// A plan that is held waits whatever its workspace applies by itself, also where the server died before it
// had looked at it, and takes the yes of somebody who may approve and has not asked for the run.
func TestGatedRun(t *testing.T) {
	w := runworld.New(t)
	w.Terms.AutoApply, w.Terms.Gates = "always", runs.Gates{Severity: "critical"}
	author, run := planIn(t, w, "apply")
	held := func(when string) {
		t.Helper()
		found, err := w.Service.Store.Run(t.Context(), run.Ref())
		if err != nil || found.Status != runs.AwaitingApproval || len(found.Gates) != 1 ||
			!strings.Contains(found.Reason, found.Gates[0].Reason) {
			t.Fatalf("%s: %s, %s, held by %v, %v", when, found.Status, found.Reason, found.Gates, err)
		}
	}
	held("planned")
	_, err := w.Service.Store.Update(t.Context(), run.Ref(), func(r runs.Run) (runs.Change, error) {
		r.Status, r.Pin, r.Gates, r.LeaseUntil = runs.Checking, nil, nil, w.Now()
		return runs.Change{Run: r}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Restart()
	w.Later(t, 10*time.Second)
	held("looked at by another server")

	as := func(key string, role auth.Role) auth.Principal {
		return auth.Principal{Org: author.Org, KeyID: key, Grant: auth.Grant{Role: role}}
	}
	yes := api.Decision{Digest: run.Pin.Digest}
	for _, c := range []struct {
		who  auth.Principal
		code fault.Code
	}{{as("operator", auth.Operator), fault.RightMissing}, {author, fault.ApprovalOwn},
		{as("approver", auth.Approver), ""}} {
		after, err := w.Approve(t.Context(), c.who, run.ID, yes)
		if c.code == "" && (err != nil || after.Status != runs.Confirmed) || c.code != "" && !fault.Is(err, c.code) {
			t.Errorf("%s: %s, %v", c.who.KeyID, after.Status, err)
		}
	}
	if all := w.Actions(); !slices.Contains(all, audit.RunWait) || !slices.Contains(all, audit.RunApprove) {
		t.Errorf("the audit log has %v", all)
	}
	shown, err := w.Get(t.Context(), author, run.ID)
	if said := shown.Wire(); err != nil || len(said.Gates) != 1 || said.Gates[0].Gate != runs.GateUnread {
		t.Errorf("it shows %v, %v", said.Gates, err)
	}
}

// A plan that nobody wants to apply is not held.
func TestPlansOnlyAreNotHeld(t *testing.T) {
	w := runworld.New(t)
	w.Terms.Gates = runs.Gates{Severity: "critical"}
	if _, run := planIn(t, w, "plan"); run.Status != runs.Succeeded || len(run.Gates) > 0 {
		t.Errorf("%s, held by %v", run.Status, run.Gates)
	}
}

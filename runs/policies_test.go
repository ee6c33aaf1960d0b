package runs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// What policies say counts without any gate of the workspace, and where they can't be asked, those that may
// refuse a plan refuse it.
func TestPoliciesCountWithoutGates(t *testing.T) {
	for name, c := range map[string]struct {
		insights *looks

		reasons int
		refused string
	}{
		"none":                {&looks{reasons: []api.GateReason{{Gate: runs.GatePolicies}}}, 0, ""},
		"hold":                {&looks{rules: "holds", reasons: []api.GateReason{{Gate: runs.GatePolicies}}}, 1, ""},
		"hold, fails":         {&looks{rules: "holds", err: errors.New("no")}, 1, ""},
		"refuse":              {&looks{rules: "refuses", refused: "tags are missing"}, 0, "tags are missing"},
		"refuse, fails":       {&looks{rules: "refuses", err: errors.New("no")}, 0, "could not be found out"},
		"refuse, and is fine": {&looks{rules: "refuses"}, 0, ""},
	} {
		w := runworld.New(t)
		_, run := planIn(t, w, "apply")
		w.Insights = c.insights
		got, err := w.Judge(t.Context(), run, c.insights.rules)
		if err != nil || len(got.Reasons) != c.reasons || !strings.Contains(got.Refused, c.refused) ||
			(got.Refused == "") != (c.refused == "") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A plan that nobody can read fails its run where policies might refuse it, whatever is applied without a question.
func TestPoliciesRefuseTheUnread(t *testing.T) {
	w := runworld.New(t)
	w.Terms.AutoApply, w.Insights = "always", &looks{rules: "refuses"}
	_, run := planIn(t, w, "apply")
	if run.Status != runs.Failed || !strings.Contains(run.Reason, "there are policies that may refuse it") {
		t.Errorf("%s: %s", run.Status, run.Reason)
	}
}

// When other policies count, the plans that wait are made anew at once, and shown to those; others wait as they did.
func TestPlansAreMadeAnewForOtherPolicies(t *testing.T) {
	w := runworld.New(t)
	asked := &looks{rules: "holds", reasons: []api.GateReason{{Gate: runs.GatePolicies, Reason: "1 finding"}}}
	w.Insights = asked
	author, run := planIn(t, w, "apply")
	pusher := api.Actor{KeyID: "pusher"}
	at := func() runs.Run {
		t.Helper()
		found, err := w.Service.Store.Run(t.Context(), run.Ref())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	changed := func(workspace string) {
		t.Helper()
		if err := w.PoliciesChanged(t.Context(), author.Org, workspace, pusher); err != nil {
			t.Fatal(err)
		}
	}
	changed("")
	asked.rules = "other"
	changed("another")
	if now := at(); now.Status != runs.AwaitingApproval || now.Attempt != 1 {
		t.Fatalf("nothing has changed for it: %s, attempt %d", now.Status, now.Attempt)
	}
	changed("")
	if now := at(); now.Status != runs.Retrying || !strings.Contains(now.Reason, "the policies") || now.Pin != nil {
		t.Fatalf("it is %s: %s", now.Status, now.Reason)
	}
	w.Claim(t, author.Org).Plan(1)
	if now := at(); now.Status != runs.AwaitingApproval || now.Pin.Policies != "other" || now.Attempt != 2 {
		t.Fatalf("planned anew it is %s: %+v", now.Status, now.Pin)
	}
	for range 9 { // what has used up its attempts is out of date, and says so
		if asked.rules += "s"; at().Status != runs.AwaitingApproval {
			break
		}
		if changed("prod"); at().Status == runs.Retrying {
			w.Claim(t, author.Org).Plan(1)
		}
	}
	if now := at(); now.Status != runs.Outdated || now.Stale.By == nil || now.Stale.By.KeyID != "pusher" {
		t.Errorf("in the end it is %s, %+v", now.Status, now.Stale)
	}
}

// A yes is bound to the policies that the plan was shown to: one to a plan that others have seen outdates it.
func TestApprovalsAreBoundToPolicies(t *testing.T) {
	w := runworld.New(t)
	asked := &looks{rules: "holds", reasons: []api.GateReason{{Gate: runs.GatePolicies, Reason: "1 finding"}}}
	w.Insights = asked
	author, run := planIn(t, w, "apply")
	if run.Status != runs.AwaitingApproval || run.Pin.Policies != "holds" {
		t.Fatalf("%s, with the policies %q", run.Status, run.Pin.Policies)
	}
	reviewer := author
	reviewer.KeyID, reviewer.Grant = "reviewer", auth.Grant{Role: auth.Approver}
	asked.rules = "refuses"
	if _, err := w.Approve(t.Context(), reviewer, run.ID, api.Decision{Digest: run.Pin.Digest}); !fault.Is(err,
		fault.RunStale) {
		t.Errorf("other policies: %v", err)
	}
	after, err := w.Get(t.Context(), author, run.ID)
	if err != nil || after.Status != runs.Outdated || !strings.Contains(after.Reason, "policies") {
		t.Errorf("%s: %s, %v", after.Status, after.Reason, err)
	}
}

package runs_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
)

// caller is a key of a role.
func caller(org uuid.UUID, name string, role auth.Role) auth.Principal {
	return auth.Principal{Org: org, KeyID: "k-" + name, KeyName: name, Grant: auth.Grant{Role: role}}
}

// A run that waits says to each caller whether their yes would count, and whose would: what it says is what becomes of
// the yes.
func TestWhoseYesARunWaitsFor(t *testing.T) {
	w := runworld.New(t)
	w.Terms.Approvals = 1
	org := uuid.New()
	anna, ben := caller(org, "anna", auth.Owner), caller(org, "ben", auth.Approver)
	all := []auth.Principal{anna, ben, caller(org, "ci", auth.Operator), caller(org, "eve", auth.Reader),
		caller(org, "security", auth.Owner)}
	w.Service.Callers = func(uuid.UUID) []auth.Principal { return all }
	run, err := w.Create(t.Context(), anna, api.RunOrder{Workspace: "w", Kind: "apply"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if asks := w.Asks(anna, run); asks != nil {
		t.Errorf("before there is a plan: %+v", asks)
	}
	w.Claim(t, org).Plan(1)
	if run, err = w.Get(t.Context(), anna, run.ID); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		asks := w.Asks(p, run)
		var names []string
		for _, who := range asks.Of {
			names = append(names, who.KeyName)
		}
		if got := strings.Join(names, " "); got != "ben security" || asks.More != 0 {
			t.Errorf("to %s it waits for %q and %d more", p.KeyName, got, asks.More)
		}
		if may := p.KeyName == "ben" || p.KeyName == "security"; may != (asks.Refused == "") {
			t.Errorf("to %s it says %q", p.KeyName, asks.Refused)
		}
	}
	if asks := w.Asks(anna, run); asks.Refused != "who asked for a run may not approve it in this workspace" {
		t.Errorf("to its author it says %q", asks.Refused)
	}
	_, err = w.Approve(t.Context(), anna, run.ID, api.Decision{Digest: run.Pin.Digest})
	if !fault.Is(err, fault.ApprovalOwn) || fault.From(err).Message != w.Asks(anna, run).Refused {
		t.Errorf("and then %v", err)
	}
	for range 7 {
		all = append(all, caller(org, "another", auth.Approver))
	}
	if asks := w.Asks(anna, run); len(asks.Of) != 5 || asks.More != 4 {
		t.Errorf("of many it names %d, and has %d more", len(asks.Of), asks.More)
	}
}

// A configuration that may be planned only is not applied, whoever asks and whether they name it or not.
func TestPlanOnly(t *testing.T) {
	w := runworld.New(t)
	p := caller(uuid.New(), "anna", auth.Owner)
	before, err := w.Create(t.Context(), p, api.RunOrder{Workspace: "w", Kind: "apply"}, "")
	if err == nil {
		_, err = w.Cancel(t.Context(), p, before.ID, api.CancelOrder{})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.PlanOnly = "it is a draft"
	if _, err := w.Retry(t.Context(), p, before.ID, ""); !fault.Is(err, fault.RunInvalid) {
		t.Errorf("a retry: %v", err)
	}
	for _, order := range []api.RunOrder{{Workspace: "w", Kind: "apply"}, {Workspace: "w", Kind: "destroy"},
		{Workspace: "w", Kind: "apply", Snapshot: runworld.Snapshot, AutoApprove: true}} {
		if _, err := w.Create(t.Context(), p, order, ""); !fault.Is(err, fault.RunInvalid) ||
			fault.From(err).Message != "it is a draft" {
			t.Errorf("%+v: %v", order, err)
		}
	}
	for _, kind := range []string{"plan", "drift"} {
		if _, err := w.Create(t.Context(), p, api.RunOrder{Workspace: "w", Kind: kind}, ""); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Who is told that a plan waits learns who wants what, what it changes, and why.
func TestWhatIsToldOfAPlanThatWaits(t *testing.T) {
	w := runworld.New(t)
	w.Terms.Approvals = 1
	org := uuid.New()
	run, err := w.Create(t.Context(), caller(org, "anna", auth.Owner),
		api.RunOrder{Workspace: "w", Kind: "apply", Message: "fewer networks"}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.Claim(t, org).Plan(2)
	want := "run " + run.ID + ": anna wants to apply: +2 ~0 -0; waits for 1 of 1 approvals: \"fewer networks\""
	if got := w.Notes(audit.RunWait); len(got) != 1 || got[0] != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

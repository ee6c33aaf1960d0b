package runs_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// What was to wait for a person, or to change no more than so much without one, does so when it is asked for again.
func TestRetriedRunsOfTheServerWaitAsBefore(t *testing.T) {
	for name, own := range map[string]runs.Own{
		"proposed":           {Wait: true},
		"more than it may":   {AutoApprove: true, Most: 1},
		"by the order's own": {Wait: true, Most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := runworld.New(t)
			w.Terms.AutoApply = "always"
			own.Workspace, own.Kind = "prod", runs.Apply
			owner := auth.Principal{Org: uuid.New(), KeyID: "owner", Grant: auth.Grant{Role: auth.Owner}}
			run, err := w.Begin(t.Context(), owner.Org, own, "of a layer")
			if err != nil {
				t.Fatal(err)
			}
			w.Claim(t, owner.Org).Plan(2)
			w.MoveState(t, owner.Org, "prod")
			if run, err = w.Get(t.Context(), owner, run.ID); err != nil || run.Status != runs.Outdated {
				t.Fatalf("%s, %v", run.Status, err)
			}
			again, err := w.Retry(t.Context(), owner, run.ID, "")
			if err != nil {
				t.Fatal(err)
			}
			w.Claim(t, owner.Org).Plan(2)
			again, err = w.Get(t.Context(), owner, again.ID)
			if err != nil || again.Order.Wait != own.Wait || again.Order.Most != own.Most ||
				len(again.Gates) != own.Most || again.Status != runs.AwaitingApproval {
				t.Errorf("%s, held by %v, ordered %+v, %v", again.Status, again.Gates, again.Order, err)
			}
		})
	}
}

// A plan that nobody executes yet is not applied when the policies have changed that it was shown to.
func TestConfirmedPlansAreBoundToPolicies(t *testing.T) {
	w := runworld.New(t)
	w.Terms.AutoApply = "always"
	asked := &looks{rules: "holds", reasons: []api.GateReason{{Gate: runs.GatePolicies, Reason: "1 finding"}}}
	w.Insights = asked
	author, run := planIn(t, w, "apply")
	reviewer := author
	reviewer.KeyID, reviewer.Grant = "reviewer", auth.Grant{Role: auth.Approver}
	if _, err := w.Approve(t.Context(), reviewer, run.ID, api.Decision{Digest: run.Pin.Digest}); err != nil {
		t.Fatal(err)
	}
	asked.rules = "refuses"
	worker := runs.Worker{ID: "executor", Orgs: []uuid.UUID{author.Org}}
	found, err := w.Service.Claim(t.Context(), worker, api.AgentClaim{Key: "k"})
	if err != nil || found != nil {
		t.Errorf("given %+v, %v", found, err)
	}
	after, err := w.Get(t.Context(), author, run.ID)
	if err != nil || after.Status != runs.Outdated || after.Stale == nil || after.Stale.What == "" {
		t.Errorf("%s: %s, %v", after.Status, after.Reason, err)
	}
}

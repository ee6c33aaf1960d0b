package runs_test

import (
	"slices"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// Breaking the glass takes the right and a reason, is on record as that, and lets nothing through that is out of
// date, another plan, or shown to other policies than count now.
func TestWhatBreakingTheGlassLetsThrough(t *testing.T) {
	glass := func(run runs.Run) api.Decision {
		return api.Decision{Digest: run.Pin.Digest, Reason: "the region is down", BreakGlass: true}
	}
	for name, c := range map[string]struct {
		before func(w *runworld.World, seen *looks, author auth.Principal, d *api.Decision)
		role   auth.Role
		code   fault.Code
	}{
		"an owner, their own run": {nil, auth.Owner, ""},
		"who may approve only":    {nil, auth.Approver, fault.RightMissing},
		"who may apply only":      {nil, auth.Operator, fault.RightMissing},
		"without a reason": {func(_ *runworld.World, _ *looks, _ auth.Principal, d *api.Decision) { d.Reason = "" },
			auth.Owner, fault.ReasonMissing},
		"another plan": {func(_ *runworld.World, _ *looks, _ auth.Principal, d *api.Decision) { d.Digest = "x" },
			auth.Owner, fault.PinMismatch},
		"a state that was written": {func(w *runworld.World, _ *looks, by auth.Principal, _ *api.Decision) {
			w.MoveState(t, by.Org, "prod")
		}, auth.Owner, fault.RunStale},
		"policies that changed": {func(_ *runworld.World, seen *looks, _ auth.Principal, _ *api.Decision) {
			seen.rules = "refuses"
		}, auth.Owner, fault.RunStale},
	} {
		w := runworld.New(t)
		seen := &looks{rules: "holds", reasons: []api.GateReason{{Gate: runs.GatePolicies, Reason: "1 finding"}}}
		w.Insights, w.Terms.Approvals = seen, 3
		author, run := planIn(t, w, "apply")
		d, by := glass(run), author
		by.Grant = auth.Grant{Role: c.role}
		if c.before != nil {
			c.before(w, seen, author, &d)
		}
		after, err := w.Approve(t.Context(), by, run.ID, d)
		if c.code != "" {
			if !fault.Is(err, c.code) || slices.Contains(w.Actions(), audit.RunBreakGlass) {
				t.Errorf("%s: %s, %v, on record are %v", name, after.Status, err, w.Actions())
			}
			continue
		}
		if err != nil || after.Status != runs.Confirmed || !after.Wire().Approvals[0].BreakGlass ||
			!slices.Contains(w.Actions(), audit.RunBreakGlass) || slices.Contains(w.Actions(), audit.RunApprove) {
			t.Errorf("%s: %s, %v, on record are %v", name, after.Status, err, w.Actions())
		}
	}
}

// What policies refuse has failed: there is nothing to break the glass for.
func TestNoGlassForWhatIsRefused(t *testing.T) {
	w := runworld.New(t)
	w.Insights = &looks{rules: "refuses", refused: "tags are missing"}
	author, run := planIn(t, w, "apply")
	_, err := w.Approve(t.Context(), author, run.ID, api.Decision{Digest: "x", Reason: "fire", BreakGlass: true})
	if run.Status != runs.Failed || !fault.Is(err, fault.RunStatus) {
		t.Errorf("%s, %v", run.Status, err)
	}
}

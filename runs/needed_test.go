package runs

import (
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// heldCritical brings the run to where a critical finding holds its plan.
func (s *story) heldCritical() *story {
	s.gated(GateFindings)
	s.run.Gates[0].Severity = GateCritical
	s.run.Reason = s.run.waitsFor()
	return s
}

// How many people a plan takes is what holds it that takes the most, and nobody counts twice.
func TestHowManyApprove(t *testing.T) {
	for name, c := range map[string]struct {
		terms Terms
		want  int
	}{
		"none said":     {Terms{}, 0},
		"critical":      {Terms{ApprovalsFor: map[string]int{GateCritical: 2}}, 2},
		"findings":      {Terms{ApprovalsFor: map[string]int{GateFindings: 3, GateCritical: 2}}, 3},
		"another kind":  {Terms{ApprovalsFor: map[string]int{GateCost: 5}}, 0},
		"the workspace": {Terms{Approvals: 4, ApprovalsFor: map[string]int{GateCritical: 2}}, 4},
	} {
		if s := begin(t, Apply, c.terms).heldCritical(); s.run.needed() != c.want || s.run.Wire().Needed != c.want {
			t.Errorf("%s: %d", name, s.run.needed())
		}
	}
	says := func(s *story, who Actor) Decide {
		return s.by(who).approve(yes{Decision: api.Decision{Digest: "pin-a"}, now: base(0), revision: 1})
	}
	s := begin(t, Apply, Terms{ApprovalsFor: map[string]int{GateCritical: 2}}).heldCritical()
	if s.run.Reason != "waits for 2 of 2 approvals: because of findings" {
		t.Errorf("it says %q", s.run.Reason)
	}
	s.do(says(s, reviewer)).is(AwaitingApproval)
	s.do(says(s, reviewer)).is(AwaitingApproval)
	renamed := reviewer
	renamed.KeyName = "another name of the same key"
	s.do(says(s, renamed)).is(AwaitingApproval)
	other := reviewer
	other.KeyID = "another key"
	s.do(says(s, other)).is(Confirmed)
}

// Whose yes counts goes by what holds the plan: that of somebody else is refused where it counts for nothing, and
// is not enough where it does.
func TestWhoApproves(t *testing.T) {
	says := func(s *story, who Actor, glass bool) Decide {
		d := api.Decision{Digest: "pin-a", BreakGlass: glass, Reason: "because"}
		return s.by(who).approve(yes{Decision: d, now: base(0), revision: 1})
	}
	security, guest := reviewer, reviewer
	security.KeyID, security.Subject = "token.security", "anna"
	guest.KeyID, guest.Subject = "token.security", "somebody else"
	begun := func(terms Terms, who ...string) *story {
		terms.Approvers = Approvers{GateCritical: who, GateFindings: who}
		return begin(t, Apply, terms).heldCritical()
	}

	s := begun(Terms{}, "token.security/anna")
	if s.run.Reason != "waits until one of those who approve findings, critical says yes: because of findings" {
		t.Errorf("it says %q", s.run.Reason)
	}
	s.refused(fault.ApprovalOthers, says(s, reviewer, false))
	s.refused(fault.ApprovalOthers, says(s, guest, false))
	s.do(says(s, security, false)).is(Confirmed)

	s = begun(Terms{}, "token.security")
	s.do(says(s, guest, false)).is(Confirmed)

	s = begun(Terms{}, "token.security/anna")
	s.do(says(s, reviewer, true)).is(Confirmed)

	// The workspace wants two, one of whom is to be of security.
	other := reviewer
	other.KeyID = "another key"
	s = begun(Terms{Approvals: 2}, "token.security")
	s.do(says(s, reviewer, false)).is(AwaitingApproval)
	s.do(says(s, other, false)).is(AwaitingApproval)
	if s.run.Reason != "waits for 1 of 2 approvals of those who approve findings, critical: because of findings" {
		t.Errorf("it says %q", s.run.Reason)
	}
	s.do(says(s, security, false)).is(Confirmed)

	// What else holds the plan is for everybody who may approve.
	s = begun(Terms{ApprovalsFor: map[string]int{GateCritical: 2}}, "token.security")
	delete(s.run.Terms.Approvers, GateFindings)
	s.do(says(s, reviewer, false)).is(AwaitingApproval)
	s.do(says(s, security, false)).is(AwaitingApproval)
	s.do(says(s, guest, false)).is(Confirmed)
}

// A yes to a plan with a finding that was not critical doesn't count for one that is.
func TestApprovalsBeforeSomethingCritical(t *testing.T) {
	s := begin(t, Apply, Terms{Carry: true}).gated(GateFindings)
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
	s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
	critical := s.run
	critical.Gates = []api.GateReason{{Gate: GateFindings, Severity: GateCritical}}
	if s.run.Earlier.heldFor(critical) {
		t.Error("it counts")
	}
}

// Who breaks the glass is enough by themselves, their own run's author too, and only for this plan.
func TestBreakGlass(t *testing.T) {
	breaks := func(s *story, who Actor) Decide {
		return s.by(who).approve(yes{Decision: api.Decision{Digest: "pin-a", Reason: "fire", BreakGlass: true}, now: base(0),
			revision: 1, refused: fault.New(fault.RightMissing, "may not approve")})
	}
	s := begin(t, Apply, Terms{Approvals: 3, Carry: true}).heldCritical()
	s.do(breaks(s, author)).is(Confirmed)
	last := s.run.Approvals[len(s.run.Approvals)-1]
	if !last.BreakGlass || last.Reason != "fire" {
		t.Errorf("on record is %+v", last)
	}
	s.do(breaks(s, author)).is(Confirmed)
	s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
	if s.gated(GateFindings); s.run.Status != AwaitingApproval {
		t.Errorf("a later plan is %s", s.run.Status)
	}
	s = begin(t, Apply, Terms{Approvals: 2}).heldCritical()
	s.do(s.approve(reviewer, "pin-a")).is(AwaitingApproval)
	s.do(breaks(s, reviewer)).is(Confirmed)
}

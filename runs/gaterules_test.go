package runs

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// gated brings the run to where its plan was looked at, and is held by these gates.
func (s *story) gated(gates ...string) *story {
	s.t.Helper()
	s.do(s.claim("plan")).do(s.renew(PhasePlan)).do(s.report(PhaseShow, OutcomeSucceeded, true)).is(Checking)
	return s.do(s.by(Server()).planned(s.heldResult(gates...)))
}

func (s *story) heldResult(gates ...string) result {
	found := result{pin: &api.Pin{Digest: "pin-a", Changes: "a"}, counts: api.RunCounts{Add: 1, Any: true},
		now: base(0), revision: 1, epoch: s.run.Epoch}
	for _, gate := range gates {
		found.gates = append(found.gates, api.GateReason{Gate: gate, Reason: "because of " + gate})
	}
	return found
}

// Whatever is applied without a question, a plan that a gate holds is not.
func TestGatesHold(t *testing.T) {
	for name, c := range map[string]struct {
		terms Terms
		auto  bool
		gates []string
		want  Status
	}{
		"always":             {Terms{AutoApply: "always"}, false, []string{GateFindings}, AwaitingApproval},
		"always, no gate":    {Terms{AutoApply: "always"}, false, nil, Confirmed},
		"asked for":          {Terms{}, true, []string{GateUnread}, AwaitingApproval},
		"asked for, no gate": {Terms{}, true, nil, Confirmed},
		"never":              {Terms{AutoApply: "never"}, false, []string{GateCost}, AwaitingApproval},
		"approvals":          {Terms{Approvals: 1}, false, []string{GateCost}, AwaitingApproval},
	} {
		s := begin(t, Apply, c.terms)
		s.run.Order.AutoApprove = c.auto
		s.gated(c.gates...)
		if s.run.Status != c.want || len(s.run.Gates) != len(c.gates) {
			t.Errorf("%s: %s, held by %v", name, s.run.Status, s.run.Gates)
		}
		if said := strings.Contains(s.run.Reason, "because of"); said != (len(c.gates) > 0) {
			t.Errorf("%s: it says %q", name, s.run.Reason)
		}
	}
}

// Grave findings have a plan wait that nobody would be asked about: until whoever may apply confirms it, its author
// too. That is no approval by somebody else.
func TestFindingsAreConfirmed(t *testing.T) {
	confirm := func(s *story) *story {
		s.do(s.claim("plan")).do(s.renew(PhasePlan)).do(s.report(PhaseShow, OutcomeSucceeded, true))
		found := s.heldResult()
		found.confirm = "2 findings"
		return s.do(s.by(Server()).planned(found))
	}
	for _, kind := range []Kind{Apply, Destroy} {
		s := confirm(begin(t, kind, Terms{AutoApply: "always"})).is(AwaitingApproval)
		if s.run.Reason != "waits until somebody confirms the plan: 2 findings" || s.run.wantsApproval() {
			t.Errorf("%s: it says %q, and wants an approval: %t", kind, s.run.Reason, s.run.wantsApproval())
		}
		s.do(s.by(author).approve(yes{Decision: api.Decision{Digest: "pin-a"}, now: base(0), revision: 1,
			refused: fault.New(fault.RightMissing, "may apply only")})).is(Confirmed)
		if fallen := s.by(Server()).fallen(s.run); len(fallen) != 0 {
			t.Errorf("%s: %+v", kind, fallen)
		}
	}
	s := begin(t, Apply, Terms{AutoApply: "always"})
	s.run.Earlier = &Earlier{Run: "before", Planned: 1, Revision: s.run.Terms.Revision}
	confirm(s).is(Confirmed) // the rest of what was let through
}

// A plan that a gate holds is not confirmed by who may apply only, nor by its author.
func TestWhoLetsThroughAGate(t *testing.T) {
	mayNot := fault.New(fault.RightMissing, "no")
	says := func(s *story, who Actor, refused error) Decide {
		return s.by(who).approve(yes{Decision: api.Decision{Digest: "pin-a"}, now: base(0), revision: 1, refused: refused})
	}
	s := begin(t, Apply, Terms{AutoApply: "always"}).gated(GateFindings)
	s.refused(fault.RightMissing, says(s, reviewer, mayNot))
	s.refused(fault.ApprovalOwn, says(s, author, nil))
	s.do(says(s, reviewer, nil)).is(Confirmed)

	s = begin(t, Apply, Terms{AllowAuthor: true}).gated(GateFindings)
	s.do(says(s, author, nil)).is(Confirmed)

	s = begin(t, Apply, Terms{}).gated()
	s.do(says(s, author, errors.New("may apply only"))).is(Confirmed)

	s = begin(t, Apply, Terms{Approvals: 2, AllowAuthor: true}).gated(GateFindings)
	s.do(says(s, reviewer, nil)).is(AwaitingApproval)
	if s.run.Reason != "waits for 1 of 2 approvals: because of findings" {
		t.Errorf("it says %q", s.run.Reason)
	}
	s.do(says(s, author, nil)).is(Confirmed)
}

// A yes to a plan that no gate held doesn't count for one that a gate holds, with whatever equal changes.
func TestApprovalsBeforeAGate(t *testing.T) {
	for name, c := range map[string]struct {
		before, now []string
		want        Status
	}{
		"none":       {nil, nil, Confirmed},
		"new":        {nil, []string{GateFindings}, AwaitingApproval},
		"the same":   {[]string{GateFindings, GateCost}, []string{GateFindings}, Confirmed},
		"another":    {[]string{GateFindings}, []string{GateFindings, GateCost}, AwaitingApproval},
		"gone since": {[]string{GateFindings}, nil, Confirmed},
	} {
		s := begin(t, Apply, Terms{Carry: true}).gated(c.before...)
		s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
		s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
		if len(s.run.Gates) > 0 {
			t.Errorf("%s: a run without a plan is held by %v", name, s.run.Gates)
		}
		if s.gated(c.now...); s.run.Status != c.want {
			t.Errorf("%s: %s (%s)", name, s.run.Status, s.run.Reason)
		}
	}
}

// What is left of a plan that was applied in part needs a new yes where a gate holds it that did not hold
// that one.
func TestGatesOfWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		before, now []string
		want        Status
	}{
		"held as before": {[]string{GateFindings}, []string{GateFindings}, Confirmed},
		"held anew":      {nil, []string{GateCost}, AwaitingApproval},
	} {
		s := begin(t, Apply, Terms{AutoApply: "always"})
		s.run.Earlier = &Earlier{Run: "EARLIER", Planned: 1, Revision: 1, Gates: c.before,
			Approvals: []api.Approval{{Approved: true, By: api.Actor{KeyID: "reviewer"}, At: s.at}}}
		if s.gated(c.now...); s.run.Status != c.want {
			t.Errorf("%s: %s (%s)", name, s.run.Status, s.run.Reason)
		}
	}
}

// Runs on record from before there were gates are read as they were, and one without gates is written so.
func TestRunsWithoutGatesAreKeptAsBefore(t *testing.T) {
	raw, err := json.Marshal(Run{ID: "RUN", Earlier: &Earlier{Run: "EARLIER"}})
	if err != nil || strings.Contains(string(raw), "Gates") {
		t.Errorf("%s, %v", raw, err)
	}
	var old Run
	if err := json.Unmarshal(raw, &old); err != nil || old.held() || old.Terms.Gates.Any() || old.wantsApproval() {
		t.Errorf("%+v, %v", old, err)
	}
}

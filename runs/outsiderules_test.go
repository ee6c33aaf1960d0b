package runs

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// outside brings the run to where its plan was looked at, and a service outside is asked.
func (s *story) outside(gates ...string) *story {
	s.t.Helper()
	s.do(s.claim("plan")).do(s.renew(PhasePlan)).do(s.report(PhaseShow, OutcomeSucceeded, true)).is(Checking)
	found := s.heldResult(gates...)
	found.outside = true
	return s.do(s.by(Server()).planned(found)).is(AwaitingApproval)
}

func (s *story) answers(a outsideAnswer) *story {
	s.t.Helper()
	if a.digest == "" {
		a.digest = "pin-a"
	}
	if a.try == 0 {
		a.try = s.run.Outside.Tries
	}
	return s.do(s.by(Server()).answered(a))
}

// tries begins the next try when its time has come.
func (s *story) tries() *story {
	s.t.Helper()
	s.at = s.run.Outside.Next
	return s.do(s.by(Server()).asks())
}

// A plan is not applied before the service has decided, by whomever else it is approved.
func TestDecisionsOutside(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always"}).outside()
	if s.run.Reason != "waits for the decision service" || noticeOf(Checking, s.run) != "" {
		t.Errorf("it says %q, and tells of %q", s.run.Reason, noticeOf(Checking, s.run))
	}
	s.tries().answers(outsideAnswer{approved: true, reason: "fine"}).is(Confirmed)
	if s.run.Outside.State != OutsideApproved || s.run.DecidedAt.IsZero() {
		t.Errorf("on record is %+v", s.run.Outside)
	}

	s = begin(t, Apply, Terms{Approvals: 1}).outside()
	s.do(s.approve(reviewer, "pin-a")).is(AwaitingApproval)
	s.tries().answers(outsideAnswer{approved: true}).is(Confirmed)

	s = begin(t, Apply, Terms{AutoApply: "always"}).outside(GateCost)
	s.tries().answers(outsideAnswer{approved: true}).is(AwaitingApproval)
	if !strings.Contains(s.run.Reason, "because of cost") || strings.Contains(s.run.Reason, "service") {
		t.Errorf("it says %q", s.run.Reason)
	}
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)

	s = begin(t, Apply, Terms{Approvals: 1}).outside()
	s.do(s.approve(reviewer, "pin-a"))
	s.tries().answers(outsideAnswer{reason: "frozen"}).is(Discarded)
	if s.run.Reason != "rejected by the decision service: frozen" || s.run.Outside.State != OutsideRejected {
		t.Errorf("it says %q: %+v", s.run.Reason, s.run.Outside)
	}
}

// Answers are to a plan: a repeated one, one to another plan and one that comes too late change nothing.
func TestAnswersAreToOnePlan(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always"}).outside().tries()
	s.answers(outsideAnswer{digest: "another", approved: true}).is(AwaitingApproval)
	s.answers(outsideAnswer{try: 7, failed: true})
	if s.run.Outside.Failed != 0 {
		t.Error("a try that is nobody's counts")
	}
	s.answers(outsideAnswer{approved: true}).is(Confirmed)
	s.answers(outsideAnswer{}).is(Confirmed)
	s.do(s.by(Server()).stale(api.Stale{Because: BySettings})).is(Outdated)
	s.answers(outsideAnswer{approved: true}).is(Outdated)
}

// One asks at a time, and who has asked and is heard of no more is followed by another try.
func TestOneAsks(t *testing.T) {
	s := begin(t, Apply, Terms{}).outside().tries()
	s.refused(fault.RunStatus, s.by(Server()).asks())
	if due := s.run.Due(); !due.Equal(s.at.Add(outsideLease)) {
		t.Errorf("somebody looks again at %s", due)
	}
	s.tries()
	if s.run.Outside.Tries != 2 || s.run.Outside.Failed != 0 {
		t.Errorf("%+v", s.run.Outside)
	}
	s.do(s.by(Server()).expire()).is(AwaitingApproval)
}

// Where nobody answers, the plan ends or goes on as the organization wants.
func TestNobodyAnswers(t *testing.T) {
	for open, want := range map[bool]Status{false: Discarded, true: Confirmed} {
		s := begin(t, Apply, Terms{AutoApply: "always"}).outside()
		for s.run.Status == AwaitingApproval && s.run.Outside.Failed < 2*maxOutsideTries {
			s.tries().answers(outsideAnswer{failed: true, failOpen: open, reason: "the answer was 500"})
		}
		if s.is(want); s.run.Outside.State != OutsideFailed || s.run.Outside.Failed != maxOutsideTries {
			t.Errorf("fails open %t: %+v", open, s.run.Outside)
		}
	}
	s := begin(t, Apply, Terms{}).outside(GateCost).tries()
	s.do(s.by(Server()).undecided()).is(AwaitingApproval)
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
	s = begin(t, Apply, Terms{AutoApply: "always"}).outside()
	s.do(s.by(Server()).undecided()).is(Confirmed)
}

// Who breaks the glass does without a decision that failed, and waits for one that did not.
func TestBreakGlassWithoutADecision(t *testing.T) {
	glass := func(s *story) Decide {
		return s.by(reviewer).approve(yes{Decision: api.Decision{Digest: "pin-a", Reason: "fire", BreakGlass: true},
			now: base(0), revision: 1})
	}
	s := begin(t, Apply, Terms{Approvals: 3}).outside().tries()
	s.do(glass(s)).is(AwaitingApproval)
	s.answers(outsideAnswer{failed: true}).is(Confirmed)
	if s.run.Outside.State != OutsideOverridden {
		t.Errorf("on record is %+v", s.run.Outside)
	}
	s = begin(t, Apply, Terms{Approvals: 3}).outside().tries().answers(outsideAnswer{failed: true})
	s.do(glass(s)).is(Confirmed)
	s = begin(t, Apply, Terms{Approvals: 3}).outside().tries()
	s.do(glass(s)).answers(outsideAnswer{}).is(Discarded)
	s.refused(fault.RunStatus, glass(s))
}

// A plan that is made again is asked about again.
func TestAnotherPlanIsAskedAbout(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always", Carry: true}).outside().tries().answers(outsideAnswer{approved: true})
	s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
	if s.run.Outside != nil {
		t.Errorf("a run without a plan has %+v", s.run.Outside)
	}
	if s.outside(); !s.run.Outside.isAsked() {
		t.Errorf("%+v", s.run.Outside)
	}
}

// What is no decision is none: neither JSON of another form, nor more than one, nor another case.
func TestReadDecision(t *testing.T) {
	for text, want := range map[string]string{
		`{"decision":"APPROVED"}`: "true ", `{"decision":"REJECTED","reason":"a\u001b[31m\nb"}`: "false a [31m b",
		`{"decision":"APPROVED","more":[1]}` + "\n": "true ", ``: "", `null`: "", `[]`: "", `{"decision":"approved"}`: "",
		`{"decision":"APPROVED"}{"decision":"REJECTED"}`: "", `{"decision":["APPROVED"]}`: "", `"APPROVED"`: "",
		`{"decision":"APPROVED"`: "", `{"decision":"APPROVED"} x`: "",
	} {
		approved, reason, err := readDecision([]byte(text))
		if got := map[bool]string{true: "true ", false: "false "}[approved] + reason; (err == nil) != (want != "") ||
			err == nil && got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	long := `{"decision":"REJECTED","reason":"` + strings.Repeat("x", 5000) + `"}`
	if _, reason, err := readDecision([]byte(long)); err != nil || len(reason) > maxDetail+10 {
		t.Errorf("a reason of %d bytes, %v", len(reason), err)
	}
}

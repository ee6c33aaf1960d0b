package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// breaks reports that the tool's apply has ended in an error.
func (s *story) breaks(head Base, with func(*api.PhaseReport)) *story {
	s.t.Helper()
	p := api.PhaseReport{
		Epoch: s.run.Epoch, Stage: "apply", Attempt: s.run.Attempt, Phase: "apply", Outcome: OutcomeFailed,
		Class: string(Provider), ExitCode: 1, Message: "quota exceeded", Last: true,
	}
	if with != nil {
		with(&p)
	}
	c := s.by(Server())
	c.next = "NEXT"
	return s.do(c.report(p, head))
}

// reads is the server's reading of a plan that goes beyond an earlier one in something.
func (s *story) reads(beyond string, unchecked ...string) Decide {
	pin := &api.Pin{Digest: "pin-b", Changes: "b", Unchecked: unchecked}
	return s.by(Server()).planned(result{pin: pin, counts: api.RunCounts{Add: 1, Any: true}, now: base(s.run.Base.Version),
		revision: 1, epoch: s.run.Epoch, beyond: beyond})
}

// What is lost while it applied is followed by a look at what there is, and says so.
func TestWhatFollowsALostApply(t *testing.T) {
	s := begin(t, Apply, Terms{}).applying()
	s.do(s.by(Server()).renew(api.LeaseRenewal{Epoch: s.run.Epoch, Phase: "apply",
		InFlight: []api.InFlight{{Address: "aws_db.x"}, {Address: "aws_db.y"}, {Address: "aws_db.z"}}}, testLease))
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Orphaned)
	epoch := s.run.Epoch
	c := s.by(Server())
	c.next = "NEXT"
	s.do(c.resolve("it burned", base(9))).is(Failed)
	if want := "apply interrupted at version 9; 3 resources may exist: aws_db.x, aws_db.y, aws_db.z"; !strings.HasPrefix(s.run.Reason, want) || !strings.Contains(s.run.Reason, "NEXT") {
		t.Errorf("it says %q", s.run.Reason)
	}
	if f := s.run.Follow; f == nil || f.Kind != Drift || f.ID != "NEXT" || s.run.Epoch != epoch+1 ||
		s.run.Due() != s.run.FinishedAt {
		t.Errorf("%+v follows at epoch %d, due %v", f, s.run.Epoch, s.run.Due())
	}
	s.do(c.resolve("again", base(10)))
	if s.run.After != 9 {
		t.Error("a second verdict counts")
	}
}

// Nobody waits for a lost apply for longer than the operator wants.
func TestLostAppliesAreGivenUp(t *testing.T) {
	s := begin(t, Apply, Terms{}).applying()
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(time.Hour)).is(Orphaned)
	if due := s.run.Due(); !due.Equal(s.at.Add(time.Hour)) {
		t.Errorf("it is due at %v", due)
	}
}

// An executor that is lost before its commands began has used no attempt, not even the last one.
func TestLostBeforeTheCommands(t *testing.T) {
	s := begin(t, Apply, Terms{MaxAttempts: 1})
	s.do(s.claim("1")).do(s.renew(PhasePrepare))
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Retrying)
	if s.run.Attempt != 1 {
		t.Errorf("attempt %d", s.run.Attempt)
	}
}

// What is tried again behind an apply that went wrong is a new plan, and never the same.
func TestABrokenApplyIsPlannedAnew(t *testing.T) {
	s := begin(t, Apply, Terms{}).applying()
	s.breaks(base(9), nil).is(Failed)
	f := s.run.Follow
	if f == nil || f.Kind != Apply || f.ID != "NEXT" || f.NotBefore != s.at.Add(15*time.Second) || s.run.GaveUp {
		t.Fatalf("%+v follows", f)
	}
	next := s.run.following(Workspace{Snapshot: "s", Terms: s.run.Terms, Pool: "p"})
	e := next.Earlier
	if next.RetryOf != "RUN" || next.Follows != "RUN" || next.Tries != 1 || !next.Trigger.Is(author) ||
		next.NotBefore != f.NotBefore || next.Pool != "p" || e == nil || e.Planned != 1 || e.Run != "RUN" {
		t.Errorf("it is %+v of %+v", next, e)
	}
}

// Where it is not known what the tool did last, a plan to go on would make it twice.
func TestUnknownEndsAreNotTriedAgain(t *testing.T) {
	for name, with := range map[string]func(*api.PhaseReport){
		"in flight":        func(p *api.PhaseReport) { p.InFlight = []api.InFlight{{Address: "aws_db.x"}} },
		"killed":           func(p *api.PhaseReport) { p.ExitCode = -1 },
		"a state was kept": func(p *api.PhaseReport) { p.StateKept = true },
		"nobody saw it":    func(p *api.PhaseReport) { p.Class, p.ExitCode = string(Infrastructure), 0 },
	} {
		s := begin(t, Apply, Terms{}).applying()
		s.breaks(base(9), with).is(Failed)
		if f := s.run.Follow; f == nil || f.Kind != Drift ||
			!strings.Contains(s.run.Reason, "apply interrupted at version 9") {
			t.Errorf("%s: %+v follows, %q", name, f, s.run.Reason)
		}
	}
	for name, with := range map[string]func(*api.PhaseReport){
		"the outputs":  func(p *api.PhaseReport) { p.Phase = "output" },
		"the time":     func(p *api.PhaseReport) { p.Class = string(Config) },
		"the sandbox":  func(p *api.PhaseReport) { p.Class = string(SandboxLow) },
		"no such word": func(p *api.PhaseReport) { p.Class = "x" },
	} {
		s := begin(t, Apply, Terms{}).applying()
		if s.breaks(base(9), with).is(Failed); s.run.Follow != nil || s.run.GaveUp {
			t.Errorf("%s: %+v follows", name, s.run.Follow)
		}
	}
}

// After as many attempts as there may be, nothing is tried by itself.
func TestGivingUp(t *testing.T) {
	s := begin(t, Apply, Terms{}).applying()
	s.run.Tries = 2
	if s.breaks(base(9), nil).is(Failed); s.run.Follow != nil || !s.run.GaveUp {
		t.Errorf("behind the last attempt follows %+v", s.run.Follow)
	}
	plan := begin(t, Apply, Terms{MaxAttempts: 1})
	plan.do(plan.claim("1")).do(plan.renew(PhasePlan))
	plan.at = plan.at.Add(testLease)
	if plan.do(plan.by(Server()).lose(0)).is(Failed); !plan.run.GaveUp {
		t.Error("a plan that was lost in its last attempt is tried again")
	}
}

// What is left of a plan goes on by itself only where it does nothing that was not approved.
func TestOnlyASubsetGoesOnByItself(t *testing.T) {
	for name, c := range map[string]struct {
		terms     Terms
		order     Order
		approved  bool // by a person
		beyond    string
		unchecked []string
		want      Status
	}{
		"approved, a subset": {terms: Terms{Approvals: 1}, approved: true, want: Confirmed},
		"approved, and more": {terms: Terms{Approvals: 1, Carry: true}, approved: true, beyond: "x",
			want: AwaitingApproval},
		"confirmed, a subset":      {approved: true, want: Confirmed},
		"auto-approved, a subset":  {order: Order{AutoApprove: true}, want: Confirmed},
		"auto-approved, and more":  {order: Order{AutoApprove: true}, beyond: "x", want: AwaitingApproval},
		"always applied, a subset": {terms: Terms{AutoApply: "always"}, want: Confirmed},
		"always applied, and more": {terms: Terms{AutoApply: "always"}, beyond: "x", want: AwaitingApproval},
		"always applied, unreadable": {terms: Terms{AutoApply: "always"}, unchecked: []string{"changes"},
			want: AwaitingApproval},
		"approved, unreadable": {terms: Terms{Approvals: 1}, approved: true, unchecked: []string{"changes"},
			want: AwaitingApproval},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, Apply, c.terms)
			s.run.Order = c.order
			if s.plan("a"); c.approved {
				s.do(s.approve(reviewer, "pin-a"))
			}
			s.is(Confirmed).do(s.claim("apply")).do(s.renew(PhaseApply)).breaks(base(9), nil).is(Failed)
			next := begin(t, Apply, c.terms)
			next.run = s.run.following(Workspace{Terms: s.run.Terms})
			next.at = next.run.NotBefore
			next.do(next.claim("1")).do(next.renew(PhasePlan)).do(next.report(PhaseShow, OutcomeSucceeded, true))
			next.do(next.reads(c.beyond, c.unchecked...)).is(c.want)
			if c.want == AwaitingApproval && c.terms.Approvals > 0 {
				next.refused(fault.ApprovalOwn, next.approve(author, "pin-b"))
			}
			if c.beyond != "" && !strings.Contains(next.run.Reason, "beyond what was approved: x") {
				t.Errorf("it says %q", next.run.Reason)
			}
		})
	}
}

// Settings and variables that have changed since may have a provider or a provisioner do something
// else by the same plan: whoever has approved it is asked again.
func TestOtherVariablesAreAskedAbout(t *testing.T) {
	for _, terms := range []Terms{{}, {Approvals: 1}, {AutoApply: "always"}} {
		asked := terms.AutoApply == ""
		s := begin(t, Apply, terms)
		if s.plan("a"); s.run.Status == AwaitingApproval {
			s.do(s.approve(reviewer, "pin-a"))
		}
		s.do(s.claim("apply")).do(s.renew(PhaseApply)).breaks(base(9), nil).is(Failed)
		next := begin(t, Apply, terms)
		next.run = s.run.following(Workspace{Terms: s.run.Terms})
		next.run.Terms.Revision = 2
		next.at = next.run.NotBefore
		next.do(next.claim("1")).do(next.renew(PhasePlan)).do(next.report(PhaseShow, OutcomeSucceeded, true))
		found := result{pin: &api.Pin{Digest: "pin-b"}, counts: api.RunCounts{Any: true}, now: base(next.run.Base.Version),
			revision: 2, epoch: next.run.Epoch}
		next.do(next.by(Server()).planned(found)).is(map[bool]Status{true: AwaitingApproval, false: Confirmed}[asked])
		if len(next.run.Approvals) > 0 || asked != strings.Contains(next.run.Reason, "variables have changed") {
			t.Errorf("it says %q with %+v", next.run.Reason, next.run.Approvals)
		}
	}
}

// A plan of what is left that was overtaken, which nobody has seen, takes the place of no plan that was
// approved: it may go beyond that, and has no approvals.
func TestAnOvertakenPlanIsNotTheApprovedOne(t *testing.T) {
	s := begin(t, Apply, Terms{Approvals: 1}).applying().breaks(base(9), nil).is(Failed)
	next := begin(t, Apply, Terms{})
	next.run = s.run.following(Workspace{Terms: s.run.Terms})
	next.at = next.run.NotBefore
	next.do(next.claim("1")).do(next.renew(PhasePlan)).do(next.report(PhaseShow, OutcomeSucceeded, true))
	found := result{pin: &api.Pin{Digest: "pin-b"}, counts: api.RunCounts{Any: true}, now: base(10), revision: 1,
		epoch: next.run.Epoch, beyond: "x"}
	next.do(next.by(Server()).planned(found)).is(Retrying)
	if e := next.run.Earlier; e == nil || e.Run != s.run.ID || e.Planned != 1 || len(e.Approvals) != 1 {
		t.Fatalf("it is compared with %+v", e)
	}
	next.at = next.run.NotBefore
	next.do(next.claim("2")).do(next.renew(PhasePlan)).do(next.report(PhaseShow, OutcomeSucceeded, true))
	next.do(next.reads("")).is(Confirmed)
}

// A plan of what is left that goes beyond what was approved waits, and is compared with that still when it is made anew
// for other policies: nobody has said yes to it.
func TestOtherPoliciesApproveNothing(t *testing.T) {
	s := begin(t, Apply, Terms{}).applying().breaks(base(9), nil).is(Failed)
	next := begin(t, Apply, Terms{})
	next.run = s.run.following(Workspace{Terms: s.run.Terms})
	next.run.Terms.AutoApply = "always"
	next.at = next.run.NotBefore
	next.do(next.claim("1")).do(next.renew(PhasePlan)).do(next.report(PhaseShow, OutcomeSucceeded, true))
	next.do(next.reads("a new database")).is(AwaitingApproval)
	approved := *next.run.Earlier
	next.do(next.by(Server()).otherPolicies("others", api.Stale{Because: BySettings})).is(Retrying)
	if e := next.run.Earlier; e == nil || e.Run != approved.Run || e.Planned != approved.Planned ||
		e.Revision != approved.Revision {
		t.Fatalf("it is compared with %+v, and not with %+v", e, approved)
	}
}

// Whoever was too busy is left alone for as long as they want, within reason.
func TestRetryAfterIsHonoured(t *testing.T) {
	for said, want := range map[int]time.Duration{0: 15 * time.Second, 5: 15 * time.Second, 120: 2 * time.Minute,
		1 << 40: time.Hour, -7: 15 * time.Second} {
		s := begin(t, Apply, Terms{})
		s.do(s.claim("1"))
		s.do(s.by(Server()).report(api.PhaseReport{
			Epoch: s.run.Epoch, Stage: "plan", Attempt: 1, Phase: "init", Outcome: OutcomeFailed, Class: string(Infrastructure),
			RetryAfter: said,
		}, Base{})).is(Retrying)
		if got := s.run.NotBefore.Sub(s.at); got != want {
			t.Errorf("said %d, waits %v", said, got)
		}
	}
}

// Waits double up to ten minutes, and are spread by half.
func TestWaits(t *testing.T) {
	for attempt, want := range map[int]time.Duration{1: 15 * time.Second, 2: 30 * time.Second, 5: 4 * time.Minute,
		6: 8 * time.Minute, 7: 10 * time.Minute, 100: 10 * time.Minute} {
		for _, jitter := range []float64{0.5, 1, 1.5} {
			if got := (call{jitter: jitter}).wait(attempt); got != time.Duration(float64(want)*jitter) {
				t.Errorf("attempt %d, jitter %g: %v", attempt, jitter, got)
			}
		}
	}
}

// A state that somebody changes between the claim and the lock of an apply makes it stale at once;
// it plans again, or ends, when its tool was refused the lock, and says whose doing it is.
func TestStaleAtTheLock(t *testing.T) {
	ann := &api.Actor{KeyID: "k", KeyName: "ann"}
	refused := func(p *api.PhaseReport) { p.Class = string(LockHeld) }
	for _, told := range []bool{true, false} {
		for carry, want := range map[bool]Status{true: Retrying, false: Outdated} {
			s := begin(t, Apply, Terms{Carry: carry}).applying()
			if told {
				s.do(s.by(Server()).stale(api.Stale{Since: s.at, Because: ByState, Version: 41, By: ann})).is(Applying)
				if s.run.Stale == nil || !strings.Contains(s.run.Reason, "ann") {
					t.Fatalf("while it applies: %+v, %q", s.run.Stale, s.run.Reason)
				}
			}
			epoch := s.run.Epoch
			head := base(41)
			head.By = ann
			s.breaks(head, refused).is(want)
			if s.run.Stale == nil || s.run.Stale.By != ann ||
				!strings.Contains(s.run.Reason, "version 41 of the state, by ann") || s.run.Epoch == epoch {
				t.Errorf("told %v: %+v, %q, epoch %d", told, s.run.Stale, s.run.Reason, s.run.Epoch)
			}
		}
	}
	held := begin(t, Apply, Terms{}).applying()
	if held.breaks(held.run.Base, refused).is(Confirmed); held.run.Attempt != 1 {
		t.Errorf("to wait for a lock is attempt %d", held.run.Attempt)
	}
	own := begin(t, Apply, Terms{}).applying()
	head := base(41)
	head.By = &api.Actor{KeyID: auth.RunKeyID("RUN")}
	if own.breaks(head, refused); own.run.Stale != nil {
		t.Errorf("its own write makes it %+v", own.run.Stale)
	}
}

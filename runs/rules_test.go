package runs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

const testLease = 45 * time.Second

var (
	author   = Actor{KeyID: "author"}
	reviewer = Actor{KeyID: "reviewer"}
	second   = Actor{KeyID: "second"}
)

// story is a run that decisions are made about, one after the other.
type story struct {
	t   *testing.T
	run Run
	at  time.Time

	standing Standing
}

func begin(t *testing.T, kind Kind, terms Terms) *story {
	t.Helper()
	if terms.MaxAttempts == 0 {
		terms.MaxAttempts = 3
	}
	terms.Revision = 1
	return &story{t: t, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), run: Run{
		Org: uuid.Max, ID: "RUN", Workspace: "prod", Kind: kind, Status: Pending, Attempt: 1, Trigger: author, Terms: terms,
	}}
}

func (s *story) by(who Actor) call { return call{by: who, at: s.at, jitter: 1, standing: s.standing} }

func (s *story) try(d Decide) error {
	change, err := d(s.run)
	if err == nil {
		s.run = change.Run
	}
	return err
}

func (s *story) do(d Decide) *story {
	s.t.Helper()
	if err := s.try(d); err != nil {
		s.t.Fatalf("a run that is %s: %v", s.run.Status, err)
	}
	return s
}

func (s *story) is(want Status) *story {
	s.t.Helper()
	if s.run.Status != want {
		s.t.Fatalf("the run is %s (%s), want %s", s.run.Status, s.run.Reason, want)
	}
	return s
}

func (s *story) refused(code fault.Code, d Decide) *story {
	s.t.Helper()
	if err := s.try(d); !fault.Is(err, code) {
		s.t.Fatalf("a run that is %s: %v, want %s", s.run.Status, err, code)
	}
	return s
}

func base(version uint64) Base { return Base{Version: version, Digest: number(version)} }

func (s *story) claim(key string) Decide {
	return s.by(Server()).claim(Executor{Agent: "agent", ClaimKey: key}, base(s.run.Base.Version), s.run.Terms, testLease)
}

func (s *story) renew(phase Phase) Decide {
	return s.by(Server()).renew(api.LeaseRenewal{Epoch: s.run.Epoch, Phase: string(phase)}, testLease)
}

func (s *story) report(phase Phase, outcome string, last bool) Decide {
	return s.by(Server()).report(api.PhaseReport{
		Epoch: s.run.Epoch, Stage: string(s.run.Stage), Attempt: s.run.Attempt, Phase: string(phase), Outcome: outcome,
		Last: last,
	}, base(7))
}

func (s *story) planned(changesDigest string, now uint64) Decide {
	pin := &api.Pin{Digest: "pin-" + changesDigest, Changes: changesDigest}
	return s.by(Server()).planned(result{pin: pin, counts: api.RunCounts{Add: 1, Any: changesDigest != ""}, now: base(now),
		revision: 1, epoch: s.run.Epoch})
}

// plan brings the run to where its plan was looked at.
func (s *story) plan(changesDigest string) *story {
	s.t.Helper()
	s.do(s.claim("plan")).is(Preparing).do(s.renew(PhasePlan)).is(Planning)
	return s.do(s.report(PhaseShow, OutcomeSucceeded, true)).is(Checking).do(s.planned(changesDigest, 0))
}

// applying brings it to where the tool applies.
func (s *story) applying() *story {
	s.t.Helper()
	s.plan("a").is(AwaitingApproval).do(s.approve(reviewer, "pin-a")).is(Confirmed)
	return s.do(s.claim("apply")).is(Applying).do(s.renew(PhaseApply))
}

func (s *story) approve(who Actor, digest string) Decide {
	return s.by(who).approve(yes{Decision: api.Decision{Digest: digest}, now: base(s.run.Base.Version), revision: 1})
}

func TestPlanAndApply(t *testing.T) {
	begin(t, Plan, Terms{}).plan("a").is(Succeeded)
	begin(t, Apply, Terms{}).plan("").is(Succeeded)
	s := begin(t, Apply, Terms{}).applying()
	s.do(s.report(PhaseApply, OutcomeSucceeded, false)).is(Applying)
	s.do(s.report(PhaseOutput, OutcomeSucceeded, true)).is(Succeeded)
	if s.run.After != 7 || s.run.FinishedAt.IsZero() {
		t.Errorf("after %d, finished %v", s.run.After, s.run.FinishedAt)
	}
}

func TestWhoIsAsked(t *testing.T) {
	begin(t, Apply, Terms{AutoApply: "always"}).plan("a").is(Confirmed)
	begin(t, Apply, Terms{AutoApply: "always", Approvals: 1}).plan("a").is(AwaitingApproval)
	s := begin(t, Apply, Terms{})
	s.run.Order.AutoApprove = true
	s.plan("a").is(Confirmed)
}

// A plan that the server could not look into is never applied without a question.
func TestUncheckedPlansAreAskedAbout(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always"})
	s.do(s.claim("1")).do(s.renew(PhasePlan)).do(s.report(PhaseShow, OutcomeSucceeded, true))
	found := result{
		pin: &api.Pin{Digest: "pin", Unchecked: []string{"state"}}, counts: api.RunCounts{Add: 1, Any: true},
		now: base(0), revision: 1, epoch: s.run.Epoch,
	}
	s.do(s.by(Server()).planned(found)).is(AwaitingApproval)
}

func TestApprovals(t *testing.T) {
	s := begin(t, Apply, Terms{Approvals: 2}).plan("a").is(AwaitingApproval)
	s.refused(fault.PinMismatch, s.approve(reviewer, "pin-b"))
	s.refused(fault.ApprovalOwn, s.approve(author, "pin-a"))
	s.do(s.approve(reviewer, "pin-a")).is(AwaitingApproval)
	s.do(s.approve(reviewer, "pin-a")).is(AwaitingApproval) // again: nobody counts twice
	s.do(s.approve(second, "pin-a")).is(Confirmed)
	s.do(s.approve(second, "pin-a")).is(Confirmed) // its answer got lost

	allowed := begin(t, Apply, Terms{Approvals: 1, AllowAuthor: true}).plan("a")
	allowed.do(allowed.approve(author, "pin-a")).is(Confirmed)

	denied := begin(t, Apply, Terms{Approvals: 2}).plan("a")
	denied.do(denied.by(reviewer).deny(api.Decision{Digest: "pin-a"})).is(Discarded)
	denied.refused(fault.RunStatus, denied.approve(second, "pin-a"))
}

func TestStalePlans(t *testing.T) {
	why := api.Stale{Because: ByState, Version: 41, By: &api.Actor{KeyName: "eve"}}
	s := begin(t, Apply, Terms{Approvals: 1}).plan("a")
	s.do(s.by(Server()).stale(why)).is(Outdated)
	if !strings.Contains(s.run.Reason, "version 41") || !strings.Contains(s.run.Reason, "eve") {
		t.Errorf("it says %q", s.run.Reason)
	}
	s.refused(fault.RunStale, s.approve(reviewer, "pin-a"))

	// An approval that races with the write finds the state moved.
	s = begin(t, Apply, Terms{Approvals: 1}).plan("a")
	s.refused(fault.RunStale, s.by(reviewer).approve(yes{Decision: api.Decision{Digest: "pin-a"}, now: base(41),
		revision: 1}))
	s.refused(fault.RunStale, s.by(reviewer).approve(yes{Decision: api.Decision{Digest: "pin-a"}, now: base(0),
		revision: 2}))

	// So does a claim of what was approved before it.
	s = begin(t, Apply, Terms{}).plan("a")
	s.do(s.approve(author, "pin-a")).is(Confirmed)
	s.refused(fault.RunStale,
		s.by(Server()).claim(Executor{Agent: "agent", ClaimKey: "apply"}, base(41), s.run.Terms, testLease))
}

func TestApprovalsCarryOver(t *testing.T) {
	for changes, want := range map[string]Status{"a": Confirmed, "b": AwaitingApproval} {
		s := begin(t, Apply, Terms{Approvals: 1, Carry: true}).plan("a")
		s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
		s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
		s.plan(changes).is(want)
		if want == Confirmed && s.run.Approvals[0].From != "RUN" {
			t.Errorf("the approval is from %q", s.run.Approvals[0].From)
		}
	}
	s := begin(t, Apply, Terms{Approvals: 1}).plan("a")
	s.do(s.approve(reviewer, "pin-a")).do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Outdated)
}

func TestExpiry(t *testing.T) {
	s := begin(t, Apply, Terms{PlanTTL: time.Hour, ApprovalTTL: time.Minute}).plan("a")
	s.do(s.by(Server()).expire()).is(AwaitingApproval)
	s.at = s.at.Add(59 * time.Minute)
	s.do(s.approve(author, "pin-a")).is(Confirmed)
	s.at = s.at.Add(time.Minute)
	s.refused(fault.RunStale, s.claim("apply"))
	s.do(s.by(Server()).expire()).is(Outdated)
}

func TestLostPlansBeginAgain(t *testing.T) {
	s := begin(t, Apply, Terms{})
	s.do(s.claim("1")).do(s.renew(PhasePlan))
	s.do(s.by(Server()).lose(0)).is(Planning)
	old := s.run.Epoch
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Retrying)
	if s.run.Epoch == old || s.run.Attempt != 2 || !s.run.NotBefore.After(s.at) {
		t.Errorf("epoch %d, attempt %d, not before %v", s.run.Epoch, s.run.Attempt, s.run.NotBefore)
	}
	s.refused(fault.RunStatus, s.claim("2"))
	s.at = s.run.NotBefore
	s.do(s.claim("2")).is(Preparing)
	late := s.by(Server()).renew(api.LeaseRenewal{Epoch: old}, testLease)
	s.refused(fault.EpochOld, late)
}

func TestLostAppliesAreKept(t *testing.T) {
	s := begin(t, Apply, Terms{}).applying()
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Orphaned)
	if !s.run.Holds() {
		t.Error("a lost apply gives its slot away")
	}
	s.refused(fault.RunStatus, s.by(author).cancel(Soft, ""))
	back := *s
	back.do(back.renew(PhaseApply)).is(Applying)
	back.do(back.report(PhaseOutput, OutcomeSucceeded, true)).is(Succeeded)

	s.do(s.by(author).resolve("it burned", base(9))).is(Failed).do(s.by(author).resolve("it burned", base(9)))
	if s.run.After != 9 {
		t.Errorf("after %d", s.run.After)
	}
	s.refused(fault.EpochOld, back.by(Server()).renew(api.LeaseRenewal{Epoch: back.run.Epoch}, testLease))
}

// An apply whose tool was not begun has changed nothing.
func TestLostBeforeTheApply(t *testing.T) {
	s := begin(t, Apply, Terms{}).plan("a")
	s.do(s.approve(author, "pin-a")).do(s.claim("apply")).do(s.renew(PhaseInit))
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Confirmed)
}

func TestCancel(t *testing.T) {
	begin(t, Apply, Terms{}).do(begin(t, Apply, Terms{}).by(author).cancel(Soft, "")).is(Cancelled)
	s := begin(t, Apply, Terms{Grace: map[Stage]time.Duration{ApplyStage: time.Minute}}).applying()
	s.refused(fault.RunStatus, s.by(author).cancel(Hard, ""))
	s.do(s.by(author).cancel(Soft, "")).is(Applying)
	if s.run.Cancel.Until == nil {
		t.Error("nobody knows when it may be killed")
	}
	s.do(s.by(author).cancel(Soft, "")).do(s.by(author).cancel(Hard, "")).is(Applying)
	s.do(s.report(PhaseApply, OutcomeFailed, true)).is(Cancelled)
	if want := "holdfast run plan " + s.run.Workspace + " --refresh-only"; !strings.Contains(s.run.Reason, want) {
		t.Errorf("behind a hard cancellation %q doesn't name %q", s.run.Reason, want)
	}
	ended := begin(t, Plan, Terms{}).plan("a")
	ended.refused(fault.RunStatus, ended.by(author).cancel(Soft, ""))
}

func TestRepeatedCallsChangeNothing(t *testing.T) {
	s := begin(t, Apply, Terms{}).do(begin(t, Apply, Terms{}).claim("plan"))
	epoch := s.run.Epoch
	s.do(s.claim("plan"))
	if s.run.Epoch != epoch {
		t.Error("a repeated claim is another one")
	}
	s.refused(fault.RunStatus, s.claim("other"))
	report := s.report(PhaseInit, OutcomeSucceeded, false)
	s.do(report).do(report)
	if len(s.run.Phases) != 1 {
		t.Errorf("%d phases are noted", len(s.run.Phases))
	}
}

func TestFailures(t *testing.T) {
	for class, want := range map[Class]Status{Infrastructure: Retrying, Config: Failed, SandboxLow: Failed} {
		s := begin(t, Apply, Terms{})
		s.do(s.claim("1"))
		s.do(s.by(Server()).report(api.PhaseReport{Epoch: s.run.Epoch, Stage: "plan", Attempt: 1, Phase: "init",
			Outcome: OutcomeFailed, Class: string(class)}, Base{})).is(want)
	}
	s := begin(t, Apply, Terms{}).applying()
	s.do(s.by(Server()).report(api.PhaseReport{
		Epoch: s.run.Epoch, Stage: "apply", Attempt: 1, Phase: "apply", Outcome: OutcomeFailed, Class: string(Infrastructure),
		InFlight: []api.InFlight{{Address: "aws_db.x"}},
	}, base(9))).is(Failed) // an apply that was begun is never begun again
	if !strings.Contains(s.run.Reason, "aws_db.x") || !strings.Contains(s.run.Reason, "version 9") {
		t.Errorf("it says %q", s.run.Reason)
	}
}

// Who cancels is obeyed, though the executor had planned before it heard of that.
func TestCancelledPlansAreNotApplied(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always"})
	s.do(s.claim("1")).do(s.renew(PhasePlan)).do(s.by(author).cancel(Soft, ""))
	s.do(s.report(PhaseShow, OutcomeSucceeded, true)).do(s.planned("a", 0)).is(Cancelled)
}

// A plan that was looked at for long says nothing of the one that was made since.
func TestLateChecks(t *testing.T) {
	s := begin(t, Apply, Terms{})
	s.do(s.claim("1")).do(s.renew(PhasePlan)).do(s.report(PhaseShow, OutcomeSucceeded, true)).is(Checking)
	late, refused := s.planned("old", 0), s.by(Server()).refuse(s.run.Epoch, "no plan")
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Retrying)
	s.at = s.run.NotBefore
	s.do(s.claim("2")).do(s.renew(PhasePlan)).do(s.report(PhaseShow, OutcomeSucceeded, true)).is(Checking)
	s.do(late).do(refused).is(Checking)
	s.do(s.planned("new", 0)).is(AwaitingApproval)
	if s.run.Pin.Digest != "pin-new" {
		t.Errorf("the pin is %s", s.run.Pin.Digest)
	}
}

// A claim finds settings that have changed, though nobody has marked the plan stale yet.
func TestClaimsLookAtSettings(t *testing.T) {
	s := begin(t, Apply, Terms{}).plan("a")
	s.do(s.approve(author, "pin-a")).is(Confirmed)
	changed := s.run.Terms
	changed.Revision++
	s.refused(fault.RunStale,
		s.by(Server()).claim(Executor{Agent: "agent", ClaimKey: "apply"}, base(0), changed, testLease))
}

// Who approved a plan and asks for the run again is its author now: that approval is none.
func TestAuthorsApprovalsAreNotCarried(t *testing.T) {
	for who, want := range map[Actor]Status{reviewer: AwaitingApproval, second: Confirmed} {
		s := begin(t, Apply, Terms{Approvals: 1, Carry: true})
		s.run.Trigger = who
		s.run.Earlier = &Earlier{Run: "OTHER", Changes: "a",
			Approvals: []api.Approval{{Digest: "other", Approved: true, By: reviewer.Wire()}}}
		s.plan("a").is(want)
	}
}

// The files of a plan are those of the attempt that made it, however often its apply is begun.
func TestApplyTriedAgainHasItsPlan(t *testing.T) {
	s := begin(t, Apply, Terms{}).plan("a")
	s.do(s.approve(author, "pin-a")).do(s.claim("apply")).do(s.renew(PhaseInit))
	s.at = s.at.Add(testLease)
	s.do(s.by(Server()).lose(0)).is(Confirmed)
	s.at = s.at.Add(time.Hour)
	s.do(s.claim("again")).is(Applying)
	if s.run.Attempt != 2 || s.run.Planned != 1 {
		t.Errorf("attempt %d applies the plan of attempt %d", s.run.Attempt, s.run.Planned)
	}
}

// A lock that is held is no failure of the apply where nothing was done yet. Whoever has done something was not kept
// out by it, whatever their tool has said: the same apply is never done twice.
func TestHeldLockAfterWork(t *testing.T) {
	for resources, want := range map[int]Status{0: Confirmed, 1: Failed} {
		s := begin(t, Apply, Terms{}).applying()
		s.do(s.by(Server()).report(api.PhaseReport{Epoch: s.run.Epoch, Stage: "apply", Attempt: 1, Phase: "apply",
			Outcome: OutcomeFailed, Class: string(LockHeld), ExitCode: 1, Work: api.Work{Resources: resources}},
			s.run.Base)).is(want)
	}
}

// An approval that has waited for too long does not count by way of an equal plan.
func TestExpiredApprovalsAreNotCarried(t *testing.T) {
	s := begin(t, Apply, Terms{Approvals: 1, Carry: true, ApprovalTTL: time.Hour}).plan("a")
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
	s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
	s.at = s.at.Add(time.Hour)
	s.plan("a").is(AwaitingApproval)
}

// A yes of somebody who might only confirm is no approval of an equal plan that wants one.
func TestConfirmationsAreNoApprovals(t *testing.T) {
	for approvals, want := range map[int]Status{0: Confirmed, 1: AwaitingApproval} {
		s := begin(t, Apply, Terms{Carry: true}).plan("a")
		s.do(s.approve(second, "pin-a")).is(Confirmed)
		retried := begin(t, Apply, Terms{Carry: true, Approvals: approvals})
		retried.run.Earlier = s.run.asEarlier()
		retried.plan("a").is(want)
		s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
		s.run.Terms.Approvals = approvals
		s.plan("a").is(want)
	}
}

// A yes counts for as long as one does, also while another one is waited for.
func TestOldApprovalsCountNoMore(t *testing.T) {
	s := begin(t, Apply, Terms{Approvals: 2, ApprovalTTL: time.Hour, PlanTTL: 24 * time.Hour}).plan("a")
	s.do(s.approve(reviewer, "pin-a")).is(AwaitingApproval)
	s.at = s.at.Add(time.Hour)
	s.do(s.approve(second, "pin-a")).is(AwaitingApproval)
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
}

// What an executor says never fills the row that a run is kept in.
func TestWhatExecutorsSayIsBounded(t *testing.T) {
	long := strings.Repeat("\x01", 100_000)
	s := begin(t, Apply, Terms{}).applying()
	report := api.PhaseReport{Epoch: s.run.Epoch, Stage: "apply", Attempt: 1, Phase: "apply", Outcome: OutcomeSucceeded}
	for range 2000 {
		report.Found = append(report.Found, api.Diagnostic{Summary: long, Detail: long, Address: long, File: long})
		report.InFlight = append(report.InFlight, api.InFlight{Address: long, Action: long})
	}
	s.do(s.by(Server()).report(report, base(7)))
	s.do(s.by(Server()).renew(api.LeaseRenewal{Epoch: s.run.Epoch, InFlight: report.InFlight}, testLease))
	report.Attempt, report.Phase = 2, "output"
	s.refused(fault.RunInvalid, s.by(Server()).report(report, base(7)))
	if raw, err := json.Marshal(s.run); err != nil || len(raw) > 256<<10 {
		t.Errorf("the run takes %d bytes: %v", len(raw), err)
	}
	for _, phase := range []Phase{PhasePrepare, PhaseInit, PhaseApply} {
		change, err := s.renew(phase)(s.run)
		if err != nil || len(change.Events) > 0 {
			t.Errorf("%s, which is over, begins again: %v, %v", phase, change.Events, err)
		}
	}
}

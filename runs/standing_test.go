package runs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
)

// lacking has the rights that people have lost, by their keys.
type lacking map[string][]auth.Right

// MayStill implements Standing.
func (l lacking) MayStill(_ uuid.UUID, who api.Actor, right auth.Right, _ string) bool {
	return !slices.Contains(l[who.KeyID], right)
}

// revoked has somebody's key revoked.
func revoked(who Actor) lacking {
	return lacking{who.KeyID: {auth.ApproveRun, auth.ApplyRun, auth.BreakGlass}}
}

// waitsAgain is what a confirmed plan does where somebody claims it.
func (s *story) waitsAgain(want string) *story {
	s.t.Helper()
	s.do(s.claim("apply")).is(AwaitingApproval)
	if !strings.Contains(s.run.Reason, want) || !strings.Contains(s.run.Reason, "may not any more") {
		s.t.Errorf("it says %q, want %q", s.run.Reason, want)
	}
	if s.run.Executor != nil && s.run.Executor.ClaimKey == "apply" || !s.run.DecidedAt.IsZero() {
		s.t.Errorf("it is somebody's: %+v", s.run)
	}
	return s
}

// A yes of somebody who may not say it any more counts neither when others say theirs nor when the plan is applied.
func TestYesOfRevokedKeysCountsNoMore(t *testing.T) {
	two := Terms{Approvals: 2, PlanTTL: 24 * time.Hour}
	third := Actor{KeyID: "third"}

	s := begin(t, Apply, two).plan("a")
	s.do(s.approve(reviewer, "pin-a")).is(AwaitingApproval)
	s.standing = revoked(reviewer)
	s.do(s.approve(second, "pin-a")).is(AwaitingApproval)
	s.do(s.approve(third, "pin-a")).is(Confirmed).do(s.claim("apply")).is(Applying)

	s = begin(t, Apply, two).plan("a")
	s.do(s.approve(reviewer, "pin-a")).do(s.approve(second, "pin-a")).is(Confirmed)
	s.standing = lacking{reviewer.KeyID: {auth.ApplyRun}} // which an approver never had
	at := *s
	at.do(at.claim("apply")).is(Applying)
	s.standing = revoked(reviewer)
	s.waitsAgain("1 of 2 approvals")
	s.do(s.approve(third, "pin-a")).is(Confirmed).do(s.claim("apply")).is(Applying)

	s = begin(t, Apply, two).plan("a") // more than it takes
	s.do(s.approve(reviewer, "pin-a")).do(s.approve(second, "pin-a")).is(Confirmed)
	s.run.Approvals = append(s.run.Approvals, api.Approval{Digest: "pin-a", Approved: true, By: third.Wire(), At: s.at})
	s.standing = revoked(reviewer)
	s.do(s.claim("apply")).is(Applying)
}

// What nobody has to say yes to goes on; what somebody has confirmed who may not any more waits for somebody else.
func TestConfirmationsOfRevokedKeys(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always"}).plan("a").is(Confirmed)
	s.standing = revoked(author)
	s.do(s.claim("apply")).is(Applying)

	s = begin(t, Apply, Terms{AutoApply: "never"}).plan("a")
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
	s.standing = lacking{reviewer.KeyID: {auth.ApproveRun}} // who applies may confirm
	at := *s
	at.do(at.claim("apply")).is(Applying)
	s.standing = revoked(reviewer)
	s.waitsAgain("somebody confirms")
}

// A broken glass does not stay broken by a key that may not break it any more.
func TestGlassOfRevokedKeys(t *testing.T) {
	s := begin(t, Apply, Terms{Approvals: 2}).plan("a")
	s.run.Outside = &Outside{State: OutsideAsked, Next: s.at, Failed: 1, People: true}
	s.do(s.by(reviewer).approve(yes{Decision: api.Decision{Digest: "pin-a", BreakGlass: true, Reason: "r"},
		now: base(0), revision: 1})).is(Confirmed)
	s.standing = lacking{reviewer.KeyID: {auth.BreakGlass}}
	s.waitsAgain("decision service")
	if s.run.Outside.State != OutsideAsked {
		t.Errorf("%+v", s.run.Outside)
	}
}

// A yes that would be carried over to a later plan is not, by then.
func TestYesOfRevokedKeysIsNotCarried(t *testing.T) {
	s := begin(t, Apply, Terms{Approvals: 1, Carry: true}).plan("a")
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
	s.do(s.by(Server()).stale(api.Stale{Because: ByState})).is(Retrying)
	s.standing = revoked(reviewer)
	s.plan("a").is(AwaitingApproval)
}

// breaksGlass has the decision service not answer once, and somebody break the glass over that.
func (s *story) breaksGlass(people bool) *story {
	s.t.Helper()
	s.run.Status = AwaitingApproval
	s.run.Outside = &Outside{State: OutsideAsked, Next: s.at, Tries: 1, Failed: 1, People: people}
	return s.do(s.by(reviewer).approve(yes{Decision: api.Decision{Digest: "pin-a", BreakGlass: true, Reason: "r"},
		now: base(0), revision: 1})).is(Confirmed)
}

// A decision outside that a broken glass stood in for is waited for again, though nobody else has to say yes.
func TestGlassOfRevokedKeysBeforeAService(t *testing.T) {
	answer := outsideAnswer{digest: "pin-a", try: 1, approved: true}

	s := begin(t, Apply, Terms{AutoApply: "always"}).plan("a").breaksGlass(false)
	s.standing = lacking{reviewer.KeyID: {auth.BreakGlass}}
	s.waitsAgain("decision service")
	s.do(s.by(Server()).answered(answer)).is(Confirmed)

	s = begin(t, Apply, Terms{Approvals: 1}).plan("a").breaksGlass(true)
	s.run.Approvals = append(s.run.Approvals, api.Approval{Digest: "pin-a", Approved: true, By: second.Wire(), At: s.at})
	s.standing = lacking{reviewer.KeyID: {auth.BreakGlass}}
	s.waitsAgain("decision service")
	s.do(s.by(Server()).answered(answer)).is(Confirmed)

	// It was broken before the service had its first try.
	s = begin(t, Apply, Terms{AutoApply: "always"}).plan("a").breaksGlass(false)
	s.run.Status, s.run.Outside.State, s.run.Outside.Failed = AwaitingApproval, OutsideAsked, 0
	s.standing = lacking{reviewer.KeyID: {auth.BreakGlass}}
	s.do(s.by(Server()).answered(outsideAnswer{digest: "pin-a", try: 1, failed: true})).is(AwaitingApproval)
}

// What is left of a plan may go beyond what was approved: what somebody has confirmed of it waits for somebody else.
func TestRestConfirmedByRevokedKeys(t *testing.T) {
	s := begin(t, Apply, Terms{AutoApply: "always"}).plan("a").is(Confirmed)
	s.run.Status, s.run.Earlier = AwaitingApproval, &Earlier{Run: "R", Planned: 1}
	s.do(s.approve(reviewer, "pin-a")).is(Confirmed)
	s.standing = revoked(reviewer)
	s.waitsAgain("somebody confirms")
}

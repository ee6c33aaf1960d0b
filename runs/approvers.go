package runs

import (
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Approvers are whose yes counts for a plan that is held, by what holds it: keys and rules by their IDs, or
// ID/SUBJECT for one of those whom a rule lets in. For what isn't there, everybody's does who may approve.
type Approvers map[string][]string

// have reports whether somebody's yes counts for a plan that this holds.
func (a Approvers) have(kind string, who api.Actor) bool {
	all, named := a[kind]
	return !named || slices.Contains(all, who.KeyID) ||
		who.Subject != "" && slices.Contains(all, who.KeyID+"/"+who.Subject)
}

// missing is how many more people have to approve the plan, and what holds it that some of them must be named for.
func (r Run) missing() (people int, kinds []string) {
	people = max(max(r.needed(), 1)-len(r.approved("")), 0)
	for _, kind := range r.heldKinds() {
		if _, named := r.Terms.Approvers[kind]; !named || slices.Contains(kinds, kind) {
			continue
		}
		lacks := max(r.Terms.ApprovalsFor[kind], 1) - len(r.approved(kind))
		if lacks > 0 {
			people, kinds = max(people, lacks), append(kinds, kind)
		}
	}
	return people, kinds
}

// approved are the different people who have approved this very plan, and who may where the kind holds it; all for "".
func (r Run) approved(kind string) (seen []api.Actor) {
	for _, a := range r.Approvals {
		who := api.Actor{KeyID: a.By.KeyID, Subject: a.By.Subject}
		if r.isYes(a) && r.Terms.Approvers.have(kind, who) && !slices.Contains(seen, who) {
			seen = append(seen, who)
		}
	}
	return seen
}

// isYes reports whether an approval is of this very plan.
func (r Run) isYes(a api.Approval) bool {
	return a.Approved && r.Pin != nil && a.Digest == r.Pin.Digest
}

// enough reports whether as many people as are needed have approved this very plan, or one who broke the glass.
func (r Run) enough() bool {
	people, _ := r.missing()
	return people == 0 || r.glassBroken()
}

// glassBroken reports whether one yes to this very plan was for all.
func (r Run) glassBroken() bool {
	return slices.ContainsFunc(r.Approvals, func(a api.Approval) bool { return a.BreakGlass && r.isYes(a) })
}

// mostAsked is how many of those are named whose yes a run waits for.
const mostAsked = 5

// Asks says whose yes the run's plan waits for, and why the caller's is none; nil where nobody is waited for.
func (s *Service) Asks(p auth.Principal, run Run) *api.RunAsks {
	if run.Status != AwaitingApproval || run.Pin == nil {
		return nil
	}
	run = s.by(ActorOf(p)).counting(run)
	counts := func(who api.Actor, may func(auth.Right) error) error {
		err := may(auth.ApproveRun)
		if err != nil && !run.wantsApproval() {
			err = may(auth.ApplyRun)
		}
		if err != nil {
			return err
		}
		if err := run.discounts(who); err != nil {
			return err
		}
		if run.said(Actor{KeyID: who.KeyID, Subject: who.Subject}, run.Pin.Digest, true, false) {
			return fault.New(fault.RunStatus, "you have approved it")
		}
		return nil
	}
	asks := &api.RunAsks{Of: []api.Actor{}}
	may := func(right auth.Right) error { return p.MayOn(right, run.Workspace) }
	if err := counts(ActorOf(p).Wire(), may); err != nil {
		asks.Refused = fault.From(err).Message
	}
	if s.Callers == nil {
		return asks
	}
	for _, who := range s.Callers(run.Org) {
		switch {
		case counts(ActorOf(who).Wire(), func(right auth.Right) error { return who.MayOn(right, run.Workspace) }) != nil:
		case len(asks.Of) == mostAsked:
			asks.More++
		default:
			asks.Of = append(asks.Of, ActorOf(who).Wire())
		}
	}
	return asks
}

// discounts refuses a yes that counts for nothing, whatever right there is to say it.
func (r Run) discounts(who api.Actor) error {
	if !r.mayApprove(who) {
		return fault.New(fault.ApprovalOwn, "who asked for a run may not approve it in this workspace")
	}
	return r.theirs(who)
}

// theirs refuses a yes that counts for nothing: all that holds the plan is for others, and the workspace itself wants
// no approvals.
func (r Run) theirs(who api.Actor) error {
	kinds := r.heldKinds()
	if r.Terms.Approvals > 0 || len(kinds) == 0 ||
		slices.ContainsFunc(kinds, func(kind string) bool { return r.Terms.Approvers.have(kind, who) }) {
		return nil
	}
	return fault.New(fault.ApprovalOthers, "the plan is held for %s, which the workspace has others approve",
		strings.Join(slices.Compact(kinds), ", "))
}

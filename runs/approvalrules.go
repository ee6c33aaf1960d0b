package runs

import (
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// result is what the server found in a plan.
type result struct {
	pin    *api.Pin
	counts api.RunCounts
	// removes is what Run.Removes says.
	removes int
	// now is the state's newest version; revision is the workspace's.
	now      Base
	revision int64
	// epoch is that of the executor who made the plan: a run that was lost since has another one.
	epoch int64
	// beyond says in what the plan goes beyond the one of Run.Earlier that was applied in part;
	// empty where it does nothing that was not approved with that one.
	beyond string
	// gates is why people have to look at the plan by the workspace's gates and the policies, which the pin
	// has the digest of.
	gates    []api.GateReason
	policies Policies
	confirm  string // what Run.Confirm says
	// outside says that a service outside is to be asked before the plan is applied.
	outside bool
}

// planned says what follows a plan that was looked at.
func (c call) planned(p result) Decide {
	return func(r Run) (Change, error) {
		if r.Status != Checking || r.Epoch != p.epoch {
			return nothing(r) // the executor has repeated its report, or is not the run's any more
		}
		m := c.change(r)
		m.run.Pin, m.run.Counts, m.run.Removes, m.run.PlannedAt = p.pin, &p.counts, p.removes, c.at
		m.run.Gates, m.run.Confirm = append(p.gates, r.Order.tooMany(p.counts)...), p.confirm
		m.run.Stale, m.run.Phase, m.run.Planned, m.run.Outside = nil, PhaseCheck, r.Attempt, nil
		switch {
		case !r.Kind.Mutates():
			m.to(Succeeded, "").because(EventPlanned, "planned, nothing is applied")
		case !p.counts.Any:
			m.to(Succeeded, "nothing is to be changed").because(EventPlanned, "no changes")
		case r.Cancel != nil:
			m.stopped(0) // its executor had planned before it heard of that
		case !r.Base.same(p.now), r.Terms.Revision != p.revision:
			m.overtaken(r)
		default:
			if p.outside {
				m.run.Outside = &Outside{State: OutsideAsked, Next: c.at, People: true}
			}
			m.decided(r, p.beyond)
		}
		return m.done()
	}
}

// overtaken is for a plan that was out of date when it was made: nobody has seen it.
func (m *moving) overtaken(r Run) {
	const text = "the state or the workspace was changed while the plan was made"
	if r.Attempt >= r.Terms.MaxAttempts || r.Terms.Revision == 0 {
		m.run.Stale = &api.Stale{Since: m.at, Because: ByState}
		m.to(Outdated, text).because(EventStale, text)
		return
	}
	approved := m.run.Earlier // and not the plan that nobody has seen
	m.again(text, m.wait(1)/15).because(EventStale, text)
	m.run.Earlier = approved
}

// decided asks people, unless they have said yes already or nobody has to.
func (m *moving) decided(r Run, beyond string) {
	m.because(EventPlanned, "")
	if !m.run.isChecked() {
		beyond = "the plan can't be compared with what was approved"
	}
	// Providers and provisioners may be given what no plan shows, and nobody has approved.
	changed := r.isPart() && r.Earlier.Revision != r.Terms.Revision
	if e := r.Earlier; e != nil && !changed && m.counts(*e, beyond) {
		m.carry(*e)
	}
	if r.isPart() && !changed && beyond == "" {
		m.run.Confirm = "" // the plan before it was let through as it was
	}
	switch {
	case r.isPart() && beyond != "":
		m.to(AwaitingApproval, "it goes beyond what was approved: "+beyond+m.run.heldText()).because(EventPlanned,
			m.run.Reason)
	case m.run.enough():
		m.confirm(EventPlanned, "the changes are those that were approved before")
	case m.run.needsNobody():
		if m.run.Outside != nil {
			m.run.Outside.People = false
		}
		m.confirm(EventPlanned, "nobody has to be asked")
	case changed && len(r.Earlier.Approvals) > 0:
		m.to(AwaitingApproval, m.run.waitsFor()+
			"; the workspace's settings or variables have changed since the plan before was approved").because(EventPlanned,
			m.run.Reason)
	default:
		m.to(AwaitingApproval, m.run.waitsFor()).because(EventPlanned, m.run.Reason)
	}
}

// isPart reports whether the run is to do what is left of a plan that was applied in part.
func (r Run) isPart() bool { return r.Earlier != nil && r.Earlier.Planned > 0 }

// ofPart is the attempt whose plan the next one of such a run is compared with; 0 for another run.
func (r Run) ofPart() int {
	if !r.isPart() {
		return 0
	}
	return r.Planned
}

// asEarlier is what the run's plan was approved by, for a plan behind it.
func (r Run) asEarlier() *Earlier {
	e := &Earlier{Run: r.ID, Approvals: r.Approvals, Gates: r.heldKinds(), Confirmed: !r.wantsApproval()}
	if r.Pin != nil {
		e.Changes = r.Pin.Changes
	}
	return e
}

// counts reports whether what was approved earlier covers the plan.
func (m *moving) counts(e Earlier, beyond string) bool {
	if !e.heldFor(m.run) {
		return false
	}
	if m.run.isPart() {
		return beyond == ""
	}
	return len(m.run.Pin.Unchecked) == 0 && m.run.Terms.Carry && e.Changes == m.run.Pin.Changes
}

// carry has the approvals of equal changes count for this plan. Who has only confirmed that one approves nothing.
func (m *moving) carry(e Earlier) {
	if e.Confirmed && m.run.wantsApproval() {
		return
	}
	for _, a := range e.Approvals {
		if !a.Approved || a.BreakGlass || !m.run.mayApprove(a.By) || m.run.Terms.over(a, m.at) ||
			!m.stands(m.run, a) {
			continue
		}
		if a.From == "" {
			a.From = e.Run
		}
		a.Digest = m.run.Pin.Digest
		m.run.Approvals = append(m.run.Approvals, a)
	}
}

// isChecked reports whether the server could look at all of the plan: else people have to.
func (r Run) isChecked() bool { return r.Pin != nil && len(r.Pin.Unchecked) == 0 }

// needsNobody reports whether nobody has to say yes to the run's plan.
func (r Run) needsNobody() bool {
	return r.Terms.Approvals == 0 && r.isChecked() && !r.held() && r.Confirm == "" && r.Counts != nil &&
		r.unasked(*r.Counts)
}

// unasked reports whether the run is applied without a question.
func (r Run) unasked(counts api.RunCounts) bool {
	onlyOutputs := !changesResources(counts)
	if r.Order.Wait || r.Order.Pull != nil { // a pull's is compared with what was planned before
		return false
	}
	return r.Order.AutoApprove || r.Terms.AutoApply == "always" || r.Terms.AutoApply == "no-changes" && onlyOutputs
}

// needed is how many people have to approve the run's plan by the workspace's settings; 0 for nobody, unless a
// gate holds it.
func (r Run) needed() int {
	most := r.Terms.Approvals
	for _, kind := range r.heldKinds() {
		most = max(most, r.Terms.ApprovalsFor[kind])
	}
	return most
}

// waitsFor says what the plan waits for.
func (r Run) waitsFor() string {
	switch {
	case !r.Outside.isAsked():
		return r.waitsForPeople()
	case r.Outside.People && !r.enough():
		return r.outsideText() + ", and " + r.waitsForPeople()
	}
	return r.outsideText()
}

// outsideText says that a service outside has not decided yet.
func (r Run) outsideText() string {
	if r.Outside.Failed == 0 {
		return "waits for the decision service"
	}
	return "waits for the decision service, which has not answered " + number(uint64(r.Outside.Failed)) + " times" +
		behind(r.Outside.Reason)
}

func (r Run) waitsForPeople() string {
	missing, kinds := r.missing()
	those := ""
	if len(kinds) > 0 {
		those = " of those who approve " + strings.Join(kinds, ", ")
	}
	switch {
	case r.Terms.Approvals > 0 || r.needed() > 1:
		return "waits for " + number(uint64(missing)) + " of " + number(uint64(max(r.needed(), missing))) + " approvals" +
			those + r.heldText()
	case those != "":
		return "waits until one" + those + " says yes" + r.heldText()
	case r.held():
		return "waits until somebody who may approve says yes" + r.heldText()
	}
	return "waits until somebody confirms the plan" + behind(r.Confirm)
}

// yes is what somebody says about a plan, with what it must be of to be applied now.
type yes struct {
	api.Decision
	now      Base
	revision int64
	// refused is why they may not approve, but confirm only; nil where they may.
	refused error
}

// approve is one person's yes to the plan with this digest.
func (c call) approve(d yes) Decide {
	return func(was Run) (Change, error) {
		r := c.counting(was)
		if r.wantsApproval() && d.refused != nil && !d.BreakGlass {
			return Change{}, d.refused
		}
		if r.said(c.by, d.Digest, true, d.BreakGlass) && !r.Status.Ended() {
			return nothing(was)
		}
		if err := c.mayDecide(r, d.Decision); err != nil {
			return Change{}, err
		}
		if !r.Base.same(d.now) || r.Terms.Revision != d.revision {
			return Change{}, fault.New(fault.RunStale,
				"the state or the workspace has changed since the plan was made: retry the run")
		}
		if err := r.discounts(c.by.Wire()); err != nil && !d.BreakGlass {
			return Change{}, err
		}
		m := c.change(r)
		m.run.Approvals = append(m.run.Approvals,
			api.Approval{Digest: d.Digest, Approved: true, Reason: d.Reason, By: c.by.Wire(), At: c.at,
				BreakGlass: d.BreakGlass})
		note := d.Reason
		if d.BreakGlass {
			note = "breaks the glass: " + note
		}
		m.because(EventApproved, note)
		if !m.run.enough() {
			m.run.Reason = m.run.waitsFor()
			return m.done()
		}
		if m.run.lacksOutside() {
			m.run.Reason = m.run.waitsFor()
			return m.done()
		}
		return m.confirm(EventConfirmed, "").done()
	}
}

// mayApprove reports whether somebody's yes to the run counts, who may be its author.
func (r Run) mayApprove(by api.Actor) bool {
	return r.Terms.AllowAuthor || !r.wantsApproval() || r.Trigger.KeyID != by.KeyID || r.Trigger.Subject != by.Subject
}

// wantsApproval reports whether it takes somebody who may approve, and not just who may apply.
func (r Run) wantsApproval() bool { return r.Terms.Approvals > 0 || r.held() }

// deny ends the run.
func (c call) deny(d api.Decision) Decide {
	return func(r Run) (Change, error) {
		if r.Status == Discarded && r.said(c.by, d.Digest, false, false) {
			return nothing(r)
		}
		if err := c.mayDecide(r, d); err != nil {
			return Change{}, err
		}
		m := c.change(r)
		m.run.Approvals = append(m.run.Approvals, api.Approval{Digest: d.Digest, Reason: d.Reason, By: c.by.Wire(),
			At: c.at})
		m.run.DecidedAt = c.at
		return m.to(Discarded, "denied by "+nameOf(c.by.Wire())).because(EventDenied, d.Reason).done()
	}
}

// mayDecide refuses a decision where there is nothing to decide, or about another plan.
func (c call) mayDecide(r Run, d api.Decision) error {
	switch {
	case r.Status == Outdated:
		return fault.New(fault.RunStale, "%s", r.Reason)
	case r.Status != AwaitingApproval || r.Pin == nil:
		return misplaced(r, "decided on")
	case d.Digest != r.Pin.Digest:
		return fault.New(fault.PinMismatch, "the run's plan has the digest %s, not %s", r.Pin.Digest, d.Digest)
	}
	return nil
}

// said reports whether somebody has said this about the plan before, and for all where glass is asked.
func (r Run) said(by Actor, digest string, approved, glass bool) bool {
	return slices.ContainsFunc(r.Approvals, func(a api.Approval) bool {
		// By whatever name: the same key may have got another one since.
		return a.By.KeyID == by.KeyID && a.By.Subject == by.Subject && a.Digest == digest && a.Approved == approved &&
			(a.BreakGlass || !glass)
	})
}

// makeWay ends a run that the server tries again by itself, unless an executor has it or it is
// approved.
func (c call) makeWay(run string) Decide {
	return func(r Run) (Change, error) {
		if r.Status != AwaitingApproval && r.Status != Pending && r.Status != Retrying {
			return nothing(r)
		}
		return c.change(r).to(Discarded, "somebody has asked for run "+run+" instead").because(EventEnded, "").done()
	}
}

// discard ends a run whose plan nobody wants, or that has not begun.
func (c call) discard(reason string) Decide {
	return func(r Run) (Change, error) {
		switch {
		case r.Status == Discarded:
			return nothing(r)
		case r.Status != AwaitingApproval && r.Status != Confirmed && r.Status != Pending && r.Status != Retrying:
			return Change{}, misplaced(r, "discarded")
		}
		m := c.change(r)
		m.run.DecidedAt = c.at
		return m.to(Discarded, "discarded by "+nameOf(c.by.Wire())).because(EventDenied, reason).done()
	}
}

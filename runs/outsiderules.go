package runs

import (
	"time"

	"github.com/holdfast/holdfast/api"
)

// Outside is how far a service outside has decided on a run's plan, where the organization has one asked. While it is
// asked, nothing confirms the plan; people may say yes meanwhile.
type Outside struct {
	State  string
	Tries  int       // that have begun
	Failed int       // that brought no answer
	Next   time.Time `json:",omitzero"` // when it is asked, or asked again
	Reason string    `json:",omitempty"`
	// People says that somebody has to approve the plan besides.
	People bool
	// Stopped says that the plan goes on no more because nobody has answered: nobody has said no to it.
	Stopped bool `json:",omitempty"`
}

// The states of a decision outside.
const (
	OutsideAsked      = "asked"
	OutsideApproved   = "approved"
	OutsideRejected   = "rejected"
	OutsideFailed     = "failed"     // nobody answered
	OutsideOverridden = "overridden" // by somebody who broke the glass, since nobody answered
	OutsideDropped    = "dropped"    // the organization has no such service any more
)

// maxOutsideTries is how many tries may bring no answer.
const maxOutsideTries = 6

// isAsked reports whether there is no decision yet.
func (o *Outside) isAsked() bool { return o != nil && o.State == OutsideAsked }

// lacksOutside reports whether the plan may not be confirmed for want of a decision outside. Who breaks the glass
// has it confirmed where a try has failed.
func (r Run) lacksOutside() bool {
	return r.Outside.isAsked() && (!r.glassBroken() || r.Outside.Failed == 0)
}

// confirm has the plan applied, or keeps it waiting for what a service outside says.
func (m *moving) confirm(what EventType, note string) *moving {
	if m.run.lacksOutside() {
		return m.to(AwaitingApproval, m.run.waitsFor()).because(what, m.run.Reason)
	}
	if m.run.Outside.isAsked() {
		m.run.Outside.State = OutsideOverridden
	}
	m.run.DecidedAt = m.at
	return m.to(Confirmed, "").because(EventConfirmed, note)
}

// asks claims the next try for whoever is about to ask.
func (c call) asks() Decide {
	return func(r Run) (Change, error) {
		if r.Status != AwaitingApproval || !r.Outside.isAsked() || r.Outside.Next.After(c.at) || r.Pin == nil {
			return Change{}, misplaced(r, "decided on outside now")
		}
		m := c.change(r)
		m.run.Outside.Tries++
		m.run.Outside.Next = c.at.Add(outsideLease)
		return m.done()
	}
}

// outsideAnswer is what came of one try.
type outsideAnswer struct {
	digest   string // of the plan
	try      int
	approved bool
	failed   bool
	failOpen bool // the organization has plans applied where nobody answers
	reason   string
}

// state is what a try that decides leaves behind.
func (a outsideAnswer) state() string {
	switch {
	case a.failed:
		return OutsideFailed
	case a.approved:
		return OutsideApproved
	}
	return OutsideRejected
}

// answered is for an answer, or the want of one. Answers are to a run and the digest of its plan: a repeated one, and
// one about another plan, changes nothing.
func (c call) answered(a outsideAnswer) Decide {
	return func(r Run) (Change, error) {
		if r.Status != AwaitingApproval || !r.Outside.isAsked() || r.Pin == nil || r.Pin.Digest != a.digest ||
			a.failed && a.try != r.Outside.Tries {
			return nothing(r)
		}
		m := c.change(c.counting(r))
		o := m.run.Outside
		switch {
		case a.failed:
			return m.unanswered(a).done()
		case !a.approved:
			o.State, o.Reason, m.run.DecidedAt = OutsideRejected, a.reason, c.at
			return m.to(Discarded, "rejected by the decision service"+behind(a.reason)).because(EventDenied,
				m.run.Reason).done()
		}
		o.State, o.Reason = OutsideApproved, a.reason
		m.because(EventApproved, "by the decision service"+behind(a.reason))
		return m.proceed("").done()
	}
}

// unanswered is a try that failed. After the last one, the plan goes on or ends as the organization wants.
func (m *moving) unanswered(a outsideAnswer) *moving {
	o := m.run.Outside
	o.Failed++
	o.Reason = a.reason
	text := "the decision service has not answered" + behind(a.reason)
	switch {
	case m.run.glassBroken():
		return m.confirm(EventConfirmed, "the glass is broken, and "+text)
	case o.Failed < maxOutsideTries:
		o.Next = m.at.Add(m.wait(o.Failed) / 3)
		m.run.Reason = m.run.waitsFor()
		return m
	case a.failOpen:
		o.State = OutsideFailed
		return m.proceed(text + "; plans go on then, by decision_fail")
	}
	o.State, o.Stopped, m.run.DecidedAt = OutsideFailed, true, m.at
	return m.to(Discarded, text+", and no plan goes on then, by decision_fail").because(EventDenied, m.run.Reason)
}

// undecided has the plan go on without the service, which the organization doesn't have any more.
func (c call) undecided() Decide {
	return func(r Run) (Change, error) {
		if r.Status != AwaitingApproval || !r.Outside.isAsked() {
			return nothing(r)
		}
		m := c.change(r)
		m.run.Outside.State = OutsideDropped
		return m.proceed("the organization has no decision service any more").done()
	}
}

// proceed confirms the plan unless it still takes people.
func (m *moving) proceed(note string) *moving {
	m.run = m.counting(m.run)
	if m.run.Outside.People && !m.run.enough() {
		m.run.Reason = m.run.waitsFor()
		if note != "" {
			m.because(EventApproved, note)
		}
		return m
	}
	return m.confirm(EventConfirmed, note)
}

func behind(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// Wire is the decision in an answer.
func (o *Outside) Wire() *api.OutsideDecision {
	if o == nil {
		return nil
	}
	return &api.OutsideDecision{State: o.State, Tries: o.Tries, Failed: o.Failed, Reason: o.Reason, People: o.People}
}

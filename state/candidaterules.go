package state

import (
	"strings"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// The rules of what the server makes of what it has, and of candidates.

// hold keeps next as a candidate. The holder's lock stays: it has failed to write, and
// will release it.
func (c call) hold(h Head, next *Version, out *written) (Change, error) {
	made, err := c.candidateOf(h, *next, Held)
	if err != nil {
		return Change{}, err
	}
	out.held = made
	event := c.event(audit.CandidateHold)
	event.Version, event.Note = h.Version.Number, out.held.ID+": "+next.Warnings.String()
	return Change{At: c.at, Candidate: out.held, Seen: c.holds(h), Events: []audit.Event{event}}, nil
}

// candidateOf describes next on top of h's newest version, or ends with errContent.
func (c call) candidateOf(h Head, next Version, source Source) (*Candidate, error) {
	if c.content == nil {
		return nil, errContent
	}
	next.Number = h.Version.Number
	return &Candidate{ID: candidateID(next.Number, *c.content, c.again), Version: next, Source: source, Status: Open,
		Content: *c.content}, nil
}

// decideRepeat accepts a version that the server itself made out of an older one or of a
// candidate, under the rules of a write's lock. When it is the newest version already, that
// is a replay, which it reports.
func (c call) decideRepeat(r repeat, again *bool) Decide {
	return func(h Head) (Change, error) {
		replay := r.isNewest(h)
		*again = replay
		if replay && settled(h, r.lockID, false) {
			return Change{}, nil
		}
		if err := c.mayWrite(h, r.lockID); err != nil {
			return Change{}, err
		}
		switch {
		case replay:
			return Change{At: c.at, Seen: c.holds(h)}, nil
		case !r.anyway && h.Version.Number != r.base:
			return Change{}, errMoved(r.base)
		}
		if err := r.only.check(h); err != nil {
			return Change{}, err
		}
		action := audit.StateRollback
		if r.settle != nil {
			action = audit.CandidateAccept
		}
		change := Change{At: c.at, Settle: r.settle, Seen: c.holds(h), RestorePurged: r.restorePurged}
		c.accept(&change, successor(h, r.next), action)
		return change, nil
	}
}

// decideCandidate keeps next as a candidate that somebody brought.
func (c call) decideCandidate(next Version, out **Candidate) Decide {
	return func(h Head) (Change, error) {
		next.Warnings = guards(h, next, c.policy.ShrinkPercent)
		var err error
		if *out, err = c.candidateOf(h, next, Pushed); err != nil {
			return Change{}, err
		}
		event := c.event(audit.CandidatePush)
		event.Version, event.Reason, event.Note = h.Version.Number, next.Origin.Reason, (*out).ID
		return Change{At: c.at, Candidate: *out, Events: []audit.Event{event}}, nil
	}
}

// decideDiscard ends an open candidate.
func (c call) decideDiscard(id, reason string) Decide {
	return func(h Head) (Change, error) {
		if err := c.admitted(h); err != nil {
			return Change{}, err
		}
		event := c.event(audit.CandidateDrop)
		event.Note, event.Reason = id, reason
		return Change{At: c.at, Settle: &Settlement{ID: id, Status: Discarded, At: c.at}, Events: []audit.Event{event}}, nil
	}
}

func errMoved(base uint64) error {
	return fault.New(fault.CandidateStale,
		"the state has a newer version than %d, which this was made for; look at the difference to the newest, then ask again", base)
}

func errSettled(c Candidate) error {
	return fault.New(fault.CandidateSettled, "candidate %s was %s already", c.ID, c.Status)
}

// errHeld is for who wrote what a guard kept back. Clients show nobody of it more than its
// status, so that it is for the log and for whoever asks with curl.
func errHeld(name Name, c *Candidate) error {
	return fault.New(fault.WriteHeld,
		"the write was kept back (%s) as candidate %s; look at its diff, then promote or discard it: `%s`",
		c.Warnings, c.ID, strings.Join(audit.CandidateCommands(string(name), c.ID), "`, `"))
}

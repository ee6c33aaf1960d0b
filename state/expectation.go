package state

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Expectation is a change of a state that somebody has announced, such as a destroy: until its
// time is over, a guard finds nothing in a write that does what was announced. It is good for one
// operation: the writes under the lock with which it was used first, until that lock is
// released, or a single write without a lock. A destroy that takes long writes several times.
type Expectation struct {
	// Findings are what guards are not to find. None of them: nothing is expected.
	Findings Warnings
	// Since is when it was announced, Until when its time is over: for every write, whenever
	// its operation began.
	Since, Until time.Time
	Reason       string // why, as the caller said
	KeyID        string // of who announced it
	KeyName      string // likewise; may be empty
	Subject      string // likewise; may be empty
	// LockID is of the lock under which it was used; empty until then.
	LockID string
}

// The bounds of how long a change may be announced for.
const (
	MinExpected = time.Minute
	MaxExpected = 7 * 24 * time.Hour
)

// CanExpect are the findings that may be announced: those of a state that becomes smaller. Of
// the others a single write is wrong as a rule, and promoting its candidate is the way.
func CanExpect() Warnings { return WarnEmptied | WarnShrunk }

// Announcement is what somebody says who expects a change.
type Announcement struct {
	Findings Warnings // some of CanExpect
	For      time.Duration
	Reason   string
}

// Expect announces a change of a state that exists, in the place of what was announced before.
// Faults: StateNotFound, ParameterInvalid.
func (s *Service) Expect(ctx context.Context, p auth.Principal, name Name, a Announcement) (Expectation, error) {
	ref, err := s.authorize(ctx, p, auth.ExpectChange, name)
	if err != nil {
		return Expectation{}, err
	}
	if err := a.check(); err != nil {
		return Expectation{}, err
	}
	head, err := s.store.Update(ctx, ref, nil, s.call(p, ref).decideExpect(a))
	if err != nil {
		return Expectation{}, err
	}
	return *head.Expected, nil
}

// Unexpect takes back what was announced, and returns it; nil for nothing, since it was taken
// back, used up or over before.
func (s *Service) Unexpect(ctx context.Context, p auth.Principal, name Name, reason string) (*Expectation, error) {
	ref, err := s.authorize(ctx, p, auth.ExpectChange, name)
	if err != nil {
		return nil, err
	}
	var ended *Expectation
	_, err = s.store.Update(ctx, ref, nil, s.call(p, ref).decideUnexpect(reason, &ended))
	return ended, err
}

// Expected returns what is expected of a state; nil for nothing.
func (s *Service) Expected(ctx context.Context, p auth.Principal, name Name) (*Expectation, error) {
	ref, err := s.authorize(ctx, p, auth.ReadMetadata, name)
	if err != nil {
		return nil, err
	}
	head, err := s.store.Head(ctx, ref)
	if err != nil {
		return nil, err
	}
	return head.Expected.at(s.clock()), nil
}

// check returns what is wrong with an announcement.
func (a Announcement) check() error {
	switch {
	case a.Findings == 0 || a.Findings&^CanExpect() != 0:
		return fault.New(fault.ParameterInvalid, "say what is expected: emptied, shrunk, or both")
	case a.For < MinExpected || a.For > MaxExpected:
		return fault.New(fault.ParameterInvalid, "a change is expected for a time from %s to %s, such as 1h", MinExpected,
			MaxExpected)
	}
	return nil
}

// at returns what is expected at this time; nil for nothing.
func (e *Expectation) at(now time.Time) *Expectation {
	if e == nil || !now.Before(e.Until) {
		return nil
	}
	return e
}

// allows returns which findings are no accident in a write under this lock.
func (e *Expectation) allows(lockID string, now time.Time) Warnings {
	if e = e.at(now); e == nil || e.LockID != "" && e.LockID != lockID {
		return 0
	}
	if e.Findings&WarnEmptied != 0 {
		return e.Findings | WarnShrunk // on its way there
	}
	return e.Findings
}

// ended is what a Change has for the end of an expectation.
func ended() *Expectation { return &Expectation{} }

// decideExpect announces a change.
func (c call) decideExpect(a Announcement) Decide {
	return func(h Head) (Change, error) {
		if !h.Exists() {
			return Change{}, fault.New(fault.StateNotFound, "there is no such state, so that nothing can be expected of it")
		}
		event := c.event(audit.ExpectSet)
		event.Version, event.Reason = h.Version.Number, a.Reason
		event.Note = a.Findings.String() + ", until " + c.at.Add(a.For).Format(time.RFC3339)
		return Change{At: c.at, Events: []audit.Event{event}, Expect: &Expectation{
			Findings: a.Findings, Since: c.at, Until: c.at.Add(a.For), Reason: a.Reason,
			KeyID: c.actor.KeyID, KeyName: c.actor.KeyName, Subject: c.actor.Subject,
		}}, nil
	}
}

// decideUnexpect takes back what was announced, and reports it in *taken.
func (c call) decideUnexpect(reason string, taken **Expectation) Decide {
	return func(h Head) (Change, error) {
		*taken = nil // an earlier call may not have counted
		if h.Expected.at(c.at) == nil {
			return Change{}, nil
		}
		*taken = h.Expected
		event := c.event(audit.ExpectEnd)
		event.Version, event.Reason, event.Note = h.Version.Number, reason, h.Expected.Findings.String()
		return Change{At: c.at, Expect: ended(), Events: []audit.Event{event}}, nil
	}
}

// useExpected has the change make use of what was announced, for these findings. The open
// candidates with the same content are tries of the same write: they are settled with it.
func (c call) useExpected(change *Change, h Head, found Warnings, w Write) {
	used := *h.Expected
	used.LockID = w.LockID
	if change.Expect = &used; w.LockID == "" || w.Release {
		change.Expect = ended()
	}
	event := c.event(audit.ExpectUse)
	event.Version, event.LockID, event.Reason, event.Note = change.Version.Number, w.LockID, used.Reason, found.String()
	change.Events = append(change.Events, event)
	change.Settle = &Settlement{Status: Promoted, At: c.at, Content: *c.content}
}

// planned returns which findings are no accident in what a run writes, because its plan was approved as it is: those
// of a state that becomes smaller, as long as neither this write nor all that the run has taken away of what there was
// is more than the plan does.
func (c call) planned(h Head, next Version) Warnings {
	if c.run == nil || c.removes == 0 || c.of < 0 || next.Resources < 0 ||
		next.Resources < max(c.of, h.Version.Resources)-c.removes {
		return 0
	}
	return CanExpect()
}

// notePlanned puts on record what guards would have found in what a run writes by its plan.
func (c call) notePlanned(change *Change, found Warnings, w Write) {
	event := c.event(audit.ExpectUse)
	event.Version, event.LockID, event.Note = change.Version.Number, w.LockID, found.String()
	event.Reason = "the plan of run " + c.run.ID + " takes away " + strconv.Itoa(c.removes)
	change.Events = append(change.Events, event)
}

// endExpected ends what was used under the lock that the change releases, and what is over.
func (c call) endExpected(change *Change, h Head) {
	e := h.Expected
	if e != nil && change.Expect == nil && (e.LockID == h.Lock.Info.ID || e.at(c.at) == nil) {
		change.Expect = ended()
	}
}

// textBytes is how long its texts are.
func (e *Expectation) textBytes() int {
	if e == nil {
		return 0
	}
	return len(e.Reason) + len(e.KeyID) + len(e.KeyName) + len(e.Subject) + len(e.LockID)
}

// stored returns one that shares nothing with this, with times as stores keep them; nil for one
// without findings.
func (e *Expectation) stored() *Expectation {
	if e == nil || e.Findings == 0 {
		return nil
	}
	kept := *e
	kept.Since, kept.Until = storedTime(e.Since), storedTime(e.Until)
	return &kept
}

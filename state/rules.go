package state

import (
	"strings"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// The rules of writes and deletions, as pure decisions on a head; lockrules.go and
// candidaterules.go have those of locks and of candidates. PROTOCOL: each of the clients'
// calls may be replayed by one whose answer got lost, and must then say yes again without
// doing it again.

// call is what a decision needs to know of the call it is made for.
type call struct {
	actor  audit.Actor
	at     time.Time
	policy Policy
	// content is that of the body, once it was looked at; see contentOf.
	content *Digest
	// again counts the candidates with the same content that were settled before.
	again uint64
	// lost is the number of a version whose bytes can't be read any more; 0 for none.
	lost uint64
	// run is the run that calls; nil for everybody else.
	run *RunRef
	// pinned is the version that its plan was made of; 0 for there being no state. removes is how many of its
	// resources the plan takes away, of as many as there were.
	pinned      uint64
	removes, of int
}

// event is one of this call. The store adds the rest.
func (c call) event(action audit.Action) audit.Event {
	return audit.Event{Actor: c.actor, Action: action}
}

// written is what became of a write.
type written struct {
	replay bool       // it was the newest version already
	held   *Candidate // a guard kept it back, or the state's fence
	fenced error      // why the fence does not admit the run that wrote; nil when it does
	// expected are the findings that somebody has announced.
	expected Warnings
}

// decideWrite accepts next as the newest version, or keeps it as a candidate: what a guard
// finds something in, and whatever a run writes that the fence does not admit. What has the
// newest version's bytes is a replay. It is an ordinary write when those were destroyed on
// purpose, and makes up for them when they are lost.
func (c call) decideWrite(next Version, w Write, out *written) Decide {
	return func(h Head) (Change, error) {
		same := h.Exists() && !h.Version.Purged && sameContent(h.Version, next)
		lost := same && h.Version.Number == c.lost
		*out = written{replay: same && !lost, fenced: c.admitted(h)}
		switch {
		case out.fenced != nil && out.replay:
			return Change{}, nil // there is nothing to keep
		case out.fenced != nil:
			return c.keepFenced(h, next, out)
		case lost:
			return c.restore(h, next, w)
		case same:
			return c.replay(h, w)
		}
		return c.write(h, next, w, out)
	}
}

// replay does what is left to do for a write whose bytes are the newest version already.
// Conditions were the first try's.
func (c call) replay(h Head, w Write) (Change, error) {
	if settled(h, w.LockID, w.Release) {
		return Change{}, nil
	}
	if err := c.mayWrite(h, w.LockID); err != nil {
		return Change{}, err
	}
	change := Change{At: c.at, Seen: c.holds(h) && !w.Release}
	c.release(&change, h, w.Release, audit.LockRelease)
	return change, nil
}

// restore stores the newest version's bytes once more, because they are lost. Nothing about
// the state changes by that, so that it asks for no more than that nobody else holds the lock.
func (c call) restore(h Head, next Version, w Write) (Change, error) {
	if w.Release && h.Lock == nil && w.LockID == h.ReleasedID {
		w.LockID = "" // released by the first try
	}
	if err := mayChange(h, w.LockID); err != nil {
		return Change{}, err
	}
	change := Change{At: c.at}
	c.accept(&change, successor(h, next), audit.StateWrite)
	change.RestorePurged = true // if they were purged once, somebody has asked for them since
	c.release(&change, h, w.Release, audit.LockRelease)
	return change, nil
}

// write decides on bytes that are not the newest version.
func (c call) write(h Head, next Version, w Write, out *written) (Change, error) {
	if err := c.mayWrite(h, w.LockID); err != nil {
		return Change{}, err
	}
	if err := w.If.check(h); err != nil {
		return Change{}, err
	}
	made := successor(h, next)
	found := c.findings(h, *made)
	planned := found & c.planned(h, *made)
	expected := found &^ planned & h.Expected.allows(w.LockID, c.at)
	made.Warnings = found &^ planned &^ expected
	taken := w.takesSerial(h, *made)
	if taken || made.Warnings != 0 && c.policy.Guards == GuardsHold {
		made.Warnings = found // whoever decides on it sees all of them
		if taken {
			made.Warnings |= WarnSerialSame
		}
		change, err := c.hold(h, made, out)
		change.RestorePurged = w.RestorePurged
		return change, err
	}
	if expected != 0 && c.content == nil {
		return Change{}, errContent
	}
	change := Change{At: c.at, Seen: c.holds(h) && !w.Release, RestorePurged: w.RestorePurged}
	c.accept(&change, made, audit.StateWrite)
	out.expected = planned | expected
	if planned != 0 {
		c.notePlanned(&change, planned, w)
	}
	if expected != 0 {
		c.useExpected(&change, h, expected, w)
	}
	c.release(&change, h, w.Release, audit.LockRelease)
	return change, nil
}

// takesSerial reports whether two writers who knew nothing of each other have counted up to the same
// serial, where such a write is not wanted. Who holds the lock may write a serial again: clients do,
// when they are interrupted.
func (w Write) takesSerial(h Head, next Version) bool {
	return w.NewSerial && w.LockID == "" && reusesSerial(h, next)
}

// findings returns what the organization's guards find in next; nothing when they are off.
func (c call) findings(h Head, next Version) Warnings {
	if c.policy.Guards == GuardsOff {
		return 0
	}
	return guards(h, next, c.policy.ShrinkPercent)
}

// accept makes next the change's version.
func (c call) accept(change *Change, next *Version, action audit.Action) {
	event := c.event(action)
	event.Version, event.Reason, event.Note = next.Number, next.Origin.Reason, next.Warnings.String()
	if change.RestorePurged {
		event.Note = strings.TrimPrefix(event.Note+", restore_purged", ", ")
	}
	change.Version, change.Events = next, append(change.Events, event)
}

// release frees the lock if wanted, and if there is one.
func (c call) release(change *Change, h Head, wanted bool, action audit.Action) {
	if !wanted || h.Lock == nil {
		return
	}
	event := c.event(action)
	event.LockID, event.Note = h.Lock.Info.ID, brief(h.Lock.Info.Who)
	change.Release, change.Events = true, append(change.Events, event)
	c.endExpected(change, h)
}

// settled reports whether a replay has nothing left to do, although somebody else may
// have locked since: a write without a lock, or one that released its own. A client whose
// lock was forced open is another matter: it must not be told that it may write.
func settled(h Head, lockID string, release bool) bool {
	if h.Lock != nil && h.Lock.Info.ID == lockID {
		return false
	}
	return lockID == "" || release && lockID == h.ReleasedID
}

// successor is next as the version that follows h's newest, by the lock's holder.
func successor(h Head, next Version) *Version {
	next.Number = h.Version.Number + 1
	if h.Lock != nil {
		next.Author.Who, next.Author.Operation = brief(h.Lock.Info.Who), brief(h.Lock.Info.Operation)
	}
	return &next
}

// sameContent compares what a client can repeat. The digest covers serial and lineage.
func sameContent(a, b Version) bool { return a.Digest == b.Digest && a.Size == b.Size }

// mayChange binds changes to the lock: with an ID only the holder of that very lock may change the
// state, without one only while nobody holds it.
func mayChange(h Head, lockID string) error {
	switch {
	case h.Lock == nil && lockID != "":
		return fault.New(fault.LockNotHeld,
			"nobody holds the lock that this request names: it was released or forced open, so this request may be out of date")
	case h.Lock != nil && h.Lock.Info.ID != lockID:
		return held(fault.LockHeld, h.Lock.Info)
	}
	return nil
}

// mayWrite is mayChange for what makes another version the newest or takes the state away,
// all of which an organization can bind to the lock, and a fence to one run among runs.
func (c call) mayWrite(h Head, lockID string) error {
	if err := c.admitted(h); err != nil {
		return err
	}
	if h.Lock == nil && lockID == "" && c.policy.RequireLock {
		return fault.New(fault.LockRequired,
			"this organization lets only the holder of the lock change this state: take it and name its ID; use the client "+
				"without -lock=false")
	}
	return mayChange(h, lockID)
}

// decideDelete takes the state away. A replay finds it gone already and is content; a
// state that never was is absent.
func (c call) decideDelete(lockID string, only Condition) Decide {
	return func(h Head) (Change, error) {
		if h.Version.Number == 0 {
			return Change{}, fault.New(fault.StateNotFound, "there is no such state")
		}
		if h.Deleted && lockID == "" {
			return Change{}, nil
		}
		if err := c.mayWrite(h, lockID); err != nil {
			return Change{}, err
		}
		if h.Deleted {
			return Change{}, nil
		}
		if err := only.check(h); err != nil {
			return Change{}, err
		}
		event := c.event(audit.StateDelete)
		event.Version = h.Version.Number
		change := Change{At: c.at, Delete: true, Events: []audit.Event{event}}
		if h.Expected != nil {
			change.Expect = ended() // it was about what is gone now
		}
		return change, nil
	}
}

// decideUndelete brings a deleted state back. To one that was brought back, and not written
// since, it says yes again: its caller's answer got lost.
func (c call) decideUndelete(lockID string) Decide {
	return func(h Head) (Change, error) {
		if err := c.admitted(h); err != nil {
			return Change{}, err
		}
		switch {
		case h.Version.Number == 0:
			return Change{}, fault.New(fault.StateNotFound,
				"there is no such state, and none was deleted that could be brought back")
		case h.Undeleted:
			return Change{}, nil
		case !h.Deleted:
			return Change{}, fault.New(fault.StateExists, "the state is there, at version %d: there is nothing to bring back",
				h.Version.Number)
		case h.Lock != nil && (lockID == "" || h.Lock.Info.ID != lockID):
			return Change{}, held(fault.LockHeld, h.Lock.Info)
		}
		event := c.event(audit.StateUndelete)
		event.Version = h.Version.Number
		return Change{At: c.at, Undelete: true, Events: []audit.Event{event}}, nil
	}
}

package state

import (
	"fmt"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// The rules of locks, replays and versions, as pure decisions on a head. PROTOCOL: each of
// the clients' calls may be replayed by one whose answer got lost, and must then say yes
// again without doing it again.

// call is what a decision needs to know of the call it is made for.
type call struct {
	actor  audit.Actor
	at     time.Time
	policy auth.Policy
	// again counts the candidates with the same bytes that were settled before.
	again uint64
	// recount is of a version that is stored without its count.
	recount recount
}

// event is one of this call. The store adds the rest.
func (c call) event(action audit.Action) audit.Event {
	return audit.Event{Actor: c.actor, Action: action}
}

// written is what became of a write.
type written struct {
	replay bool       // it was the newest version already
	held   *Candidate // a guard kept it back
}

// decideWrite accepts next as the newest version, or keeps it as a candidate.
func (c call) decideWrite(next Version, w Write, out *written) Decide {
	return func(h Head) (Change, error) {
		*out = written{replay: h.Exists() && sameContent(h.Version, next)}
		if out.replay && settled(h, w.LockID, w.Release) {
			return Change{}, nil
		}
		if err := c.mayWrite(h, w.LockID); err != nil {
			return Change{}, err
		}
		change := Change{At: c.at, Seen: c.holds(h) && !w.Release}
		if !out.replay {
			next := successor(h, next)
			warnings, err := c.findings(h, *next)
			if err != nil {
				return Change{}, err
			}
			next.Warnings = warnings
			if warnings != 0 && c.policy.Guards == auth.GuardsHold {
				return c.hold(h, next, out), nil
			}
			c.accept(&change, next, audit.StateWrite)
		}
		c.release(&change, h, w.Release, audit.LockRelease)
		return change, nil
	}
}

// findings returns what the organization's guards find in next; nothing when they are off.
func (c call) findings(h Head, next Version) (Warnings, error) {
	if c.policy.Guards == auth.GuardsOff {
		return 0, nil
	}
	h, err := c.known(h, next)
	return guards(h, next, c.policy.ShrinkPercent), err
}

// accept makes next the change's version.
func (c call) accept(change *Change, next *Version, action audit.Action) {
	event := c.event(action)
	event.Version, event.Reason, event.Note = next.Number, next.Origin.Reason, next.Warnings.String()
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
}

// hold keeps next as a candidate. The holder's lock stays: it has failed to write, and
// will release it.
func (c call) hold(h Head, next *Version, out *written) Change {
	out.held = c.candidateOf(h, *next, Held)
	event := c.event(audit.CandidateHold)
	event.Version, event.Note = h.Version.Number, out.held.ID+": "+next.Warnings.String()
	return Change{At: c.at, Candidate: out.held, Seen: c.holds(h), Events: []audit.Event{event}}
}

// candidateOf describes next on top of h's newest version.
func (c call) candidateOf(h Head, next Version, source Source) *Candidate {
	next.Number = h.Version.Number
	return &Candidate{ID: candidateID(next.Number, next.Digest, c.again), Version: next, Source: source, Status: Open}
}

// decideRewrite is decideWrite for a newest version whose bytes are lost: the same bytes
// are written again.
func (c call) decideRewrite(next Version, w Write) Decide {
	return func(h Head) (Change, error) {
		if err := mayChange(h, w.LockID); err != nil {
			return Change{}, err
		}
		change := Change{At: c.at}
		c.accept(&change, successor(h, next), audit.StateWrite)
		c.release(&change, h, w.Release, audit.LockRelease)
		return change, nil
	}
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

// mayChange is the fence: with an ID only the holder of that very lock may change the
// state, without one only while nobody holds it.
func mayChange(h Head, lockID string) error {
	switch {
	case h.Lock == nil && lockID != "":
		return fault.New(fault.LockNotHeld, "nobody holds the lock that this request names: it was released or forced open, so this request may be out of date")
	case h.Lock != nil && h.Lock.Info.ID != lockID:
		return held(fault.LockHeld, h.Lock.Info)
	}
	return nil
}

// mayWrite is mayChange for a client's write, which an organization can bind to the lock.
func (c call) mayWrite(h Head, lockID string) error {
	if h.Lock == nil && lockID == "" && c.policy.RequireLock {
		return fault.New(fault.LockRequired, "this organization accepts writes only from the holder of the lock; use the client without -lock=false")
	}
	return mayChange(h, lockID)
}

// decideDelete takes the state away. A replay finds it gone already and is content; a
// state that never was is absent.
func (c call) decideDelete(lockID string) Decide {
	return func(h Head) (Change, error) {
		if h.Version.Number == 0 {
			return Change{}, fault.New(fault.StateNotFound, "there is no such state")
		}
		if h.Deleted && lockID == "" {
			return Change{}, nil
		}
		if err := mayChange(h, lockID); err != nil {
			return Change{}, err
		}
		if h.Deleted {
			return Change{}, nil
		}
		event := c.event(audit.StateDelete)
		event.Version = h.Version.Number
		return Change{At: c.at, Delete: true, Events: []audit.Event{event}}, nil
	}
}

// decideUndelete brings a deleted state back. To one that was brought back, and not written
// since, it says yes again: its caller's answer got lost.
func (c call) decideUndelete() Decide {
	return func(h Head) (Change, error) {
		switch {
		case h.Version.Number == 0:
			return Change{}, fault.New(fault.StateNotFound, "there is no such state, and none was deleted that could be brought back")
		case h.Undeleted:
			return Change{}, nil
		case !h.Deleted:
			return Change{}, fault.New(fault.StateExists, "the state is there, at version %d: there is nothing to bring back", h.Version.Number)
		case h.Lock != nil:
			return Change{}, held(fault.LockHeld, h.Lock.Info)
		}
		event := c.event(audit.StateUndelete)
		event.Version = h.Version.Number
		return Change{At: c.at, Undelete: true, Events: []audit.Event{event}}, nil
	}
}

// decideLock grants the lock when it is free, again to the same ID and the same Who, and
// to the next one when its holder gave no sign of life for the organization's time; then
// *over is the lock that ended so.
func (c call) decideLock(info LockInfo, over **Lock) Decide {
	return func(h Head) (Change, error) {
		*over = nil // an earlier call may not have counted
		lock := &Lock{Info: info, Since: c.at, Seen: c.at, KeyID: c.actor.KeyID}
		event := c.event(audit.LockTake)
		event.LockID, event.Note = info.ID, brief(info.Who)
		switch {
		case h.Lock == nil:
			return Change{At: c.at, Lock: lock, Events: []audit.Event{event}}, nil
		case h.Lock.Info.ID == info.ID && h.Lock.Info.Who == info.Who:
			return Change{At: c.at, Seen: c.holds(h)}, nil
		case c.abandoned(h.Lock):
			*over = h.Lock
			change := Change{At: c.at, Lock: lock}
			c.release(&change, h, true, audit.LockTakeOver)
			change.Events = append(change.Events, event)
			return change, nil
		default:
			return Change{}, held(fault.LockHeld, h.Lock.Info)
		}
	}
}

// holds reports whether the lock was taken with the caller's key. Whoever else knows its ID
// may write under it, but is no sign of life of its holder.
func (c call) holds(h Head) bool { return h.Lock != nil && h.Lock.KeyID == c.actor.KeyID }

// abandoned reports whether a lock may be taken over.
func (c call) abandoned(lock *Lock) bool {
	return c.policy.LockTTL > 0 && c.at.Sub(lock.Seen) >= c.policy.LockTTL
}

// decideUnlock frees the lock that has this ID, and reports it in *released.
func (c call) decideUnlock(id string, action audit.Action, released **Lock) Decide {
	return func(h Head) (Change, error) {
		*released = nil // an earlier call may not have counted
		switch {
		case h.Lock != nil && h.Lock.Info.ID == id:
			*released = h.Lock
			change := Change{At: c.at}
			c.release(&change, h, true, action)
			return change, nil
		case h.ReleasedID == id:
			return Change{}, nil // a replay; somebody else may have locked since
		case h.Lock != nil:
			return Change{}, held(fault.LockMismatch, h.Lock.Info)
		default:
			return Change{}, fault.New(fault.LockMismatch, "nobody holds the lock, and this ID was not the last to hold it")
		}
	}
}

// decideForceUnlock frees what is held, and reports it in *released.
func (c call) decideForceUnlock(f Forcing, released **Lock) Decide {
	return func(h Head) (Change, error) {
		*released = nil
		if h.Lock == nil && (f.LockID == "" || f.LockID == h.ReleasedID) {
			return Change{}, nil
		}
		if h.Lock == nil {
			return Change{}, fault.New(fault.LockMismatch, "nobody holds the lock")
		}
		if f.LockID != "" && f.LockID != h.Lock.Info.ID {
			return Change{}, held(fault.LockMismatch, h.Lock.Info)
		}
		*released = h.Lock
		change := Change{At: c.at}
		c.release(&change, h, true, audit.LockForce)
		for i := range change.Events {
			change.Events[i].Reason = f.Reason
		}
		return change, nil
	}
}

// decideRepeat accepts a version that the server itself made out of an older one or of a
// candidate: under the lock that r.lockID names, or while nobody holds it. When it is the
// newest version already, that is a replay.
func (c call) decideRepeat(r repeat) Decide {
	return func(h Head) (Change, error) {
		replay := r.isNewest(h)
		if replay && settled(h, r.lockID, false) {
			return Change{}, nil
		}
		if err := mayChange(h, r.lockID); err != nil {
			return Change{}, err
		}
		switch {
		case replay:
			return Change{At: c.at, Seen: c.holds(h)}, nil
		case h.Version.Number != r.base:
			return Change{}, errMoved(r.base)
		}
		action := audit.StateRollback
		if r.settle != nil {
			action = audit.CandidateAccept
		}
		change := Change{At: c.at, Settle: r.settle, Seen: c.holds(h)}
		c.accept(&change, successor(h, r.next), action)
		return change, nil
	}
}

// decideCandidate keeps next as a candidate that somebody brought.
func (c call) decideCandidate(next Version, out **Candidate) Decide {
	return func(h Head) (Change, error) {
		before, err := c.known(h, next)
		if err != nil {
			return Change{}, err
		}
		next.Warnings = guards(before, next, c.policy.ShrinkPercent)
		*out = c.candidateOf(h, next, Pushed)
		event := c.event(audit.CandidatePush)
		event.Version, event.Reason, event.Note = h.Version.Number, next.Origin.Reason, (*out).ID
		return Change{At: c.at, Candidate: *out, Events: []audit.Event{event}}, nil
	}
}

// decideDiscard ends an open candidate.
func (c call) decideDiscard(id, reason string) Decide {
	return func(Head) (Change, error) {
		event := c.event(audit.CandidateDrop)
		event.Note, event.Reason = id, reason
		return Change{At: c.at, Settle: &Settlement{ID: id, Status: Discarded, At: c.at}, Events: []audit.Event{event}}, nil
	}
}

func errMoved(base uint64) error {
	return fault.New(fault.CandidateStale, "the state has a newer version than %d, which this was made for; look at the difference to the newest, then ask again", base)
}

func errSettled(c Candidate) error {
	return fault.New(fault.CandidateSettled, "candidate %s was %s already", c.ID, c.Status)
}

func errHeld(c *Candidate) error {
	return fault.New(fault.WriteHeld, "%s", fmt.Sprintf("the write was kept back (%s) as candidate %s; look at its diff, then promote or discard it", c.Warnings, c.ID))
}

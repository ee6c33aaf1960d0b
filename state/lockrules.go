package state

import (
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// The rules of locks: who gets one, and who ends one.

// decideLock grants the lock when it is free, again to the same ID and the same Who, and
// to the next one when its holder gave no sign of life for the organization's time; then
// *over is the lock that ended so.
func (c call) decideLock(info LockInfo, over **Lock) Decide {
	return func(h Head) (Change, error) {
		*over = nil // an earlier call may not have counted
		if err := c.admitted(h); err != nil {
			return Change{}, err
		}
		lock := &Lock{Info: info, Since: c.at, Seen: c.at, KeyID: c.actor.KeyID}
		if c.run != nil {
			lock.Run = *c.run
		}
		event := c.event(audit.LockTake)
		event.LockID, event.Note = info.ID, brief(info.Who)
		if err := c.unmoved(h); err != nil && (h.Lock == nil || c.abandoned(h.Lock)) {
			return Change{}, err
		}
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

// decideUnlock frees the lock that has this ID, and reports it in *released. A run that the
// fence does not admit frees nothing, not even its own lock: that is for ReleaseFor.
func (c call) decideUnlock(id string, action audit.Action, released **Lock) Decide {
	return func(h Head) (Change, error) {
		*released = nil // an earlier call may not have counted
		if err := c.admitted(h); err != nil {
			return Change{}, err
		}
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

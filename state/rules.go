package state

import (
	"time"

	"github.com/holdfast/holdfast/fault"
)

// The rules of locks and versions, as pure decisions on a head. PROTOCOL: each of them
// may be replayed by a client whose answer got lost, and must then say yes again without
// doing it again.

// decideWrite accepts next as the newest version. lockID is the ID the write carries,
// empty for none; release also frees that lock. *replay reports whether next was the
// newest version already.
func decideWrite(next Version, lockID string, release bool, replay *bool) Decide {
	return func(h Head) (Change, error) {
		*replay = h.Exists() && sameContent(h.Version, next)
		if *replay && settled(h, lockID, release) {
			return Change{}, nil
		}
		if err := mayChange(h, lockID); err != nil {
			return Change{}, err
		}
		change := Change{Release: release && h.Lock != nil}
		if !*replay {
			change.Version = successor(h, next)
		}
		return change, nil
	}
}

// decideRewrite is decideWrite for a newest version whose bytes are lost: the same bytes
// are written again.
func decideRewrite(next Version, lockID string, release bool) Decide {
	return func(h Head) (Change, error) {
		if err := mayChange(h, lockID); err != nil {
			return Change{}, err
		}
		return Change{Version: successor(h, next), Release: release && h.Lock != nil}, nil
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
		next.Author.Who, next.Author.Operation = h.Lock.Info.Who, h.Lock.Info.Operation
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

// decideDelete takes the state away. A replay finds it gone already and is content; a
// state that never was is absent.
func decideDelete(lockID string) Decide {
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
		return Change{Delete: !h.Deleted}, nil
	}
}

// decideLock grants the lock when it is free, and again to the same ID and the same Who.
func decideLock(info LockInfo, keyID string, now time.Time) Decide {
	return func(h Head) (Change, error) {
		switch {
		case h.Lock == nil:
			return Change{Lock: &Lock{Info: info, Since: now, KeyID: keyID}}, nil
		case h.Lock.Info.ID == info.ID && h.Lock.Info.Who == info.Who:
			return Change{}, nil
		default:
			return Change{}, held(fault.LockHeld, h.Lock.Info)
		}
	}
}

// decideUnlock frees the lock that has this ID, and reports it in *released.
func decideUnlock(id string, released **Lock) Decide {
	return func(h Head) (Change, error) {
		*released = nil // an earlier call may not have counted
		switch {
		case h.Lock != nil && h.Lock.Info.ID == id:
			*released = h.Lock
			return Change{Release: true}, nil
		case h.ReleasedID == id:
			return Change{}, nil // a replay; somebody else may have locked since
		case h.Lock != nil:
			return Change{}, held(fault.LockMismatch, h.Lock.Info)
		default:
			return Change{}, fault.New(fault.LockMismatch, "nobody holds the lock, and this ID was not the last to hold it")
		}
	}
}

// decideForceUnlock frees whatever is held, and reports it in *released.
func decideForceUnlock(released **Lock) Decide {
	return func(h Head) (Change, error) {
		*released = h.Lock
		return Change{Release: h.Lock != nil}, nil
	}
}

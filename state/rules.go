package state

import (
	"time"

	"github.com/holdfast/holdfast/fault"
)

// The rules of locks and versions, as pure decisions on a head. PROTOCOL: each of them
// may be replayed by a client whose answer got lost, and must then say yes again without
// doing it again.

// decideWrite accepts next as the newest version. lockID is the ID the write carries,
// empty for none; release also frees that lock.
func decideWrite(next Version, lockID string, release bool) Decide {
	return func(h Head) (Change, error) {
		replay := h.Exists() && sameContent(h.Version, next)
		if replay && release && h.Lock == nil && lockID == h.ReleasedID {
			return Change{}, nil // the first try did both
		}
		if err := mayChange(h, lockID); err != nil {
			return Change{}, err
		}
		change := Change{Release: release && h.Lock != nil}
		if !replay {
			version := next
			version.Number = h.Version.Number + 1
			if h.Lock != nil {
				version.Author.Who, version.Author.Operation = h.Lock.Info.Who, h.Lock.Info.Operation
			}
			change.Version = &version
		}
		return change, nil
	}
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
		case h.Lock != nil:
			return Change{}, held(fault.LockMismatch, h.Lock.Info)
		case h.ReleasedID == id:
			return Change{}, nil // a replay
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

package state

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Rollback makes the content of an older version the newest one: a new version, with a
// serial above those of all kept versions of its lineage, so that clients take it (see
// serialAbove). What the client encrypted is stored byte for byte, with its serial: another one
// outside of the encryption would not be the one inside, from which clients go on. It needs the lock that lockID names,
// or, with an empty one, that nobody holds
// it. Faults: VersionNotFound, VersionPurged, LockHeld, LockNotHeld, LockRequired,
// CandidateStale when a write came between; Overloaded.
func (s *Service) Rollback(ctx context.Context, p auth.Principal, name Name, number uint64, reason,
	lockID string) (Version, error) {
	return s.RollbackIf(ctx, p, name, number, reason, lockID, Condition{})
}

// RollbackIf is Rollback of a state whose newest version is as a condition says: that of somebody who
// has seen it. Its fault is PreconditionFailed.
func (s *Service) RollbackIf(ctx context.Context, p auth.Principal, name Name, number uint64, reason, lockID string,
	only Condition) (Version, error) {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return Version{}, err
	}
	known, err := s.describedVersion(ctx, ref, number)
	if err != nil {
		return Version{}, err
	}
	hold, err := s.acquireToWrite(ctx, ref, 2*known.Size+maxDigits, withID(lockID))
	if err != nil {
		return Version{}, err
	}
	defer hold.Release()
	old, err := s.read(ctx, ref, known)
	if err != nil {
		return Version{}, err
	}
	head, err := s.store.Head(ctx, ref)
	if err != nil {
		return Version{}, err
	}
	body, err := s.raised(ctx, ref, old, head.Version.Serial)
	if err != nil {
		return Version{}, err
	}
	next, err := s.describe(p, ref, body)
	if err != nil {
		return Version{}, err
	}
	next.Origin = Origin{Version: number, Reason: reason}
	return s.repeat(ctx, p, ref, repeat{next: next, body: body, base: head.Version.Number, lockID: lockID, only: only})
}

// raised returns a version's body with a serial above those that are taken, or as it is where the
// client encrypted it.
func (s *Service) raised(ctx context.Context, ref Ref, old Snapshot, newest uint64) ([]byte, error) {
	if old.Encrypted {
		return old.Body, nil
	}
	taken, err := s.serials(ctx, ref, old.Lineage)
	if err != nil {
		return nil, err
	}
	return withSerial(old.Body, serialAbove(old.Serial, append(taken, newest)))
}

// listPage is how many versions are listed at once.
const listPage = 1000

// serials returns the serials of a state's versions of a lineage: clients compare them only
// within one. The newest version need not have the highest, because serials go back where
// guards let them.
func (s *Service) serials(ctx context.Context, ref Ref, lineage string) ([]uint64, error) {
	var found []uint64
	err := s.eachVersion(ctx, ref, func(v Version) bool {
		if v.Lineage == lineage {
			found = append(found, v.Serial)
		}
		return true
	})
	return found, err
}

// eachVersion calls visit with all versions, the newest first, until it returns false. It
// lists them page by page and without their bytes, and no write waits for that.
func (s *Service) eachVersion(ctx context.Context, ref Ref, visit func(Version) bool) error {
	for before, more := uint64(0), true; more; {
		versions, err := s.store.Versions(ctx, ref, before, listPage)
		if err != nil {
			return err
		}
		for _, v := range versions {
			if before = v.Number; !visit(v) {
				return nil
			}
		}
		more = len(versions) == listPage
	}
	return nil
}

// repeat is a version that the server makes of what it has.
type repeat struct {
	next   Version
	body   []byte
	base   uint64 // the newest version that it was made for
	lockID string
	anyway bool // whatever the newest version is by now
	settle *Settlement
	// restorePurged is that of Write.
	restorePurged bool
	// only is the condition under which it is done, unless it was before.
	only Condition
	// lost is the number of a version whose bytes can't be read any more; 0 for none.
	lost uint64
}

// isNewest reports whether this was made before, can still be read, and nothing has
// followed: a caller whose answer got lost asks again.
func (r repeat) isNewest(h Head) bool {
	made, asked := h.Version.Origin, r.next.Origin
	return h.Exists() && !h.Version.Purged && h.Version.Number != r.lost &&
		made.Version == asked.Version && made.Candidate == asked.Candidate
}

func (s *Service) repeat(ctx context.Context, p auth.Principal, ref Ref, r repeat) (Version, error) {
	call := s.call(p, ref)
	for {
		replay := false
		head, err := s.update(ctx, ref, r.body, call.actor, call.decideRepeat(r, &replay))
		if err != nil || !replay {
			return head.Version, err
		}
		lost, err := s.isLost(ctx, ref, head.Version.Number, r.lockID)
		if fault.Is(err, fault.Overloaded) { // as it was made before, that is no reason to refuse it
			return head.Version, nil
		}
		if err != nil || !lost {
			return head.Version, err
		}
		r.lost = head.Version.Number // and decide anew: the state may have moved on
	}
}

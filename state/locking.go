package state

import (
	"context"
	"sync/atomic"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
)

// Lock takes the lock, also on a state that has no data yet. Faults: LockHeld, as
// *HeldError; LockIDUsed for an ID that was released before.
func (s *Service) Lock(ctx context.Context, p auth.Principal, name Name, info LockInfo) (Head, error) {
	ref, err := s.authorize(ctx, p, auth.LockState, name)
	if err != nil {
		return Head{}, err
	}
	var over *Lock
	head, err := s.store.Update(ctx, ref, nil, s.call(p, ref).decideLock(info, &over))
	if err == nil {
		s.logEnded(ctx, p, "lock taken over", over, &s.ended.takenOver)
	}
	return head, err
}

// Unlock frees the lock with this info's ID. Faults: LockMismatch, as *HeldError when
// somebody else holds it.
func (s *Service) Unlock(ctx context.Context, p auth.Principal, name Name, info LockInfo) error {
	right, action := auth.LockState, audit.LockRelease
	if info.Forced() {
		right, action = auth.ForceUnlock, audit.LockForce
	}
	ref, err := s.authorize(ctx, p, right, name)
	if err != nil {
		return err
	}
	var released *Lock
	if _, err := s.store.Update(ctx, ref, nil, s.call(p, ref).decideUnlock(info.ID, action, &released)); err != nil {
		return err
	}
	if info.Forced() {
		s.logEnded(ctx, p, "lock forced open", released, &s.ended.forced)
	}
	return nil
}

// Forcing says which lock somebody else than its holder releases, and why.
type Forcing struct {
	LockID string // empty for whatever is held, which may be nothing
	Reason string // is recorded; may be empty
}

// ForceUnlock releases somebody else's lock, and is content when none is held and none is
// named: Terraform's force-unlock names no lock. It returns what it released, nil for
// nothing. Faults: LockMismatch when another lock is held than the one that is named.
func (s *Service) ForceUnlock(ctx context.Context, p auth.Principal, name Name, f Forcing) (*Lock, error) {
	ref, err := s.authorize(ctx, p, auth.ForceUnlock, name)
	if err != nil {
		return nil, err
	}
	var released *Lock
	if _, err := s.store.Update(ctx, ref, nil, s.call(p, ref).decideForceUnlock(f, &released)); err != nil {
		return nil, err
	}
	s.logEnded(ctx, p, "lock forced open", released, &s.ended.forced)
	return released, nil
}

// logEnded logs what somebody else than its holder did to a lock, if there was one, and counts it.
// The lock's ID opens nothing any more.
func (s *Service) logEnded(ctx context.Context, p auth.Principal, how string, lock *Lock, ended *atomic.Uint64) {
	if lock == nil {
		return
	}
	ended.Add(1)
	s.log.WarnContext(ctx, how,
		"lock_id", lock.Info.ID, "holder", lock.Info.Who, "operation", lock.Info.Operation,
		"held_since", lock.Since, "last_seen", lock.Seen, "key", p.KeyID)
}

// Holder returns the held lock, nil when nobody holds it.
func (s *Service) Holder(ctx context.Context, p auth.Principal, name Name) (*Lock, error) {
	ref, err := s.authorize(ctx, p, auth.ReadMetadata, name)
	if err != nil {
		return nil, err
	}
	head, err := s.store.Head(ctx, ref)
	return head.Lock, err
}

// Locks lists the organization's held locks in the order of the states' names, as far as
// the caller may see them; after continues behind that name.
func (s *Service) Locks(ctx context.Context, p auth.Principal, after Name, limit int) (Page, error) {
	return s.States(ctx, p, StatesQuery{After: after, Limit: limit, Locked: true})
}

// Holds reports whether lockID is the lock that is held now. Who sends it is spared limits
// that others meet, so a wrong ID, and a caller who may not lock, is told no more than that.
func (s *Service) Holds(ctx context.Context, p auth.Principal, name Name, lockID string) bool {
	if lockID == "" || p.MayOn(auth.LockState, string(name)) != nil {
		return false
	}
	head, err := s.store.Head(ctx, Ref{Org: p.Org, Name: name})
	return err == nil && head.Lock != nil && head.Lock.Info.ID == lockID
}

// endings counts locks that somebody else than their holders ended.
type endings struct{ takenOver, forced, ofRuns atomic.Uint64 }

// Ended is how many locks ended otherwise than by their holders, since the service was made.
type Ended struct {
	TakenOver uint64 // their holders gave no sign of life
	Forced    uint64 // by somebody
	OfRuns    uint64 // by the server, whose executor was lost
}

// Ended returns the counts.
func (s *Service) Ended() Ended {
	return Ended{s.ended.takenOver.Load(), s.ended.forced.Load(), s.ended.ofRuns.Load()}
}

// Totals returns what there is of all organizations together, for those who watch the server.
func (s *Service) Totals(ctx context.Context) (Totals, error) { return s.store.Totals(ctx) }

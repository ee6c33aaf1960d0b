package state

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Import is a version of a state that was kept elsewhere, with the time that it had there.
type Import struct {
	Body []byte // exact bytes; must not change afterwards
	// At is when it was written there; not before the version that it follows, nor in the future.
	At time.Time
	// After is the number of the version that it follows; 0 for a state's first one.
	After uint64
	// Source says where it comes from, and is recorded as the version's reason.
	Source string
	LockID string // of the lock that the caller holds; empty if nobody may hold one
}

// clockSkew is how far the clock of who imports may be ahead of this one.
const clockSkew = 5 * time.Minute

// Import stores a version that was kept elsewhere, so that a state's history moves with it. Guards
// keep nothing back: what they find in what somebody had long accepted is noted only. The same
// bytes behind the same version are one import, however often they come and whatever has followed.
// Faults: StateInvalid, ImportTooOld where the state was written or deleted since, CandidateStale where it
// has another version than After, LockHeld, LockNotHeld, LockRequired, BytesPurged.
func (s *Service) Import(ctx context.Context, p auth.Principal, name Name, i Import) (Version, error) {
	ref, err := s.authorize(ctx, p, auth.ImportState, name)
	if err != nil {
		return Version{}, err
	}
	next, err := s.describe(p, ref, i.Body)
	if err != nil {
		return Version{}, err
	}
	now := s.clock()
	next.CreatedAt, next.Origin.Reason = storedTime(i.At), i.Source
	if ahead := next.CreatedAt.Sub(now); ahead > 0 && ahead <= clockSkew {
		next.CreatedAt = now
	} else if ahead > 0 {
		return Version{}, fault.New(fault.ParameterInvalid, "the version's time is in the future")
	}
	if had, err := s.imported(ctx, ref, next, i); err != nil || had.Number > 0 {
		return had, err
	}
	call := s.call(p, ref)
	head, err := s.decide(ctx, ref, i.Body, &call, func() Decide { return call.decideImport(next, i) })
	return head.Version, err
}

// imported returns the version behind i.After, if that is the same.
func (s *Service) imported(ctx context.Context, ref Ref, next Version, i Import) (Version, error) {
	found, err := s.store.Versions(ctx, ref, i.After+2, 1)
	if err != nil || len(found) == 0 || found[0].Number != i.After+1 || !sameContent(found[0], next) {
		return Version{}, err
	}
	head, err := s.store.Head(ctx, ref)
	if err == nil {
		err = spared(head)
	}
	if err != nil {
		return Version{}, err
	}
	return found[0], nil
}

// spared refuses a state that was deleted here: that its versions are there already must not look as
// if it could be read, and an import is no reason to have it back.
func spared(h Head) error {
	if !h.Deleted {
		return nil
	}
	return fault.New(fault.ImportTooOld, "the state was deleted here; undelete it, or import into another name")
}

// decideImport accepts next behind the version that it follows, and behind no newer one: what was
// kept elsewhere must not take the place of what was written here since.
func (c call) decideImport(next Version, i Import) Decide {
	return func(h Head) (Change, error) {
		if err := spared(h); err != nil {
			return Change{}, err
		}
		if h.Version.Number == i.After+1 && sameContent(h.Version, next) {
			return Change{}, nil
		}
		if err := c.mayWrite(h, i.LockID); err != nil {
			return Change{}, err
		}
		switch {
		case h.Version.Number != i.After:
			return Change{}, fault.New(fault.CandidateStale,
				"the state's newest version is %d, not %d, which this was to follow", h.Version.Number, i.After)
		case next.CreatedAt.Before(h.Version.CreatedAt):
			return Change{}, fault.New(fault.ImportTooOld,
				"version %d is newer than what was to follow it: the state was written here since", h.Version.Number)
		}
		made := successor(h, next)
		made.Warnings = c.findings(h, *made)
		change := Change{At: c.at, Seen: c.holds(h)}
		c.accept(&change, made, audit.StateImport)
		return change, nil
	}
}

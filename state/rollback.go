package state

import (
	"context"
	"math"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Rollback makes the content of an older version the newest one: a new version, with a
// serial above those of all kept versions of its lineage, so that clients take it. It needs
// the lock that lockID names, or, with an empty one, that nobody holds it. Faults:
// VersionNotFound, VersionPurged, LockHeld, LockNotHeld, StateEncrypted: the serial within
// the encryption can't be raised; CandidateStale when a write came between.
func (s *Service) Rollback(ctx context.Context, p auth.Principal, name Name, number uint64, reason, lockID string) (Version, error) {
	ref, err := s.enter(ctx, p, auth.WriteState, name)
	if err != nil {
		return Version{}, err
	}
	old, err := s.version(ctx, ref, number)
	if err != nil {
		return Version{}, err
	}
	if old.Encrypted {
		return Version{}, fault.New(fault.StateEncrypted, "version %d was encrypted by the client: its serial can't be raised; pull it and push it with the client", number)
	}
	head, err := s.store.Head(ctx, ref)
	if err != nil {
		return Version{}, err
	}
	highest, err := s.highestSerial(ctx, ref, old.Lineage)
	if err != nil {
		return Version{}, err
	}
	highest = max(highest, head.Version.Serial)
	if highest == math.MaxUint64 {
		return Version{}, fault.New(fault.StateUnsupported, "there is no serial above %d, so that clients would take the state for an older one", highest)
	}
	body, err := withSerial(old.Body, highest+1)
	if err != nil {
		return Version{}, err
	}
	next, err := s.describe(p, body)
	if err != nil {
		return Version{}, err
	}
	next.Origin = Origin{Version: number, Reason: reason}
	return s.repeat(ctx, p, ref, repeat{next: next, body: body, base: head.Version.Number, lockID: lockID})
}

// listPage is how many versions are listed at once.
const listPage = 1000

// highestSerial returns the highest serial of a state's versions of a lineage: clients
// compare serials only within one. The newest version need not have it, because serials go
// back where guards let them. It lists all versions, page by page and without their bytes:
// 20,000 of them in 0.2 to 0.4 seconds, for which no write waits.
func (s *Service) highestSerial(ctx context.Context, ref Ref, lineage string) (uint64, error) {
	var highest, before uint64
	for {
		versions, err := s.store.Versions(ctx, ref, before, listPage)
		if err != nil {
			return 0, err
		}
		for _, v := range versions {
			before = v.Number
			if v.Lineage == lineage {
				highest = max(highest, v.Serial)
			}
		}
		if len(versions) < listPage {
			return highest, nil
		}
	}
}

// repeat is a version that the server makes of what it has.
type repeat struct {
	next   Version
	body   []byte
	base   uint64 // the newest version that it was made for
	lockID string
	settle *Settlement
}

// isNewest reports whether this was made before, can still be read, and nothing has
// followed: a caller whose answer got lost asks again.
func (r repeat) isNewest(h Head) bool {
	made, asked := h.Version.Origin, r.next.Origin
	return h.Exists() && !h.Version.Purged && made.Version == asked.Version && made.Candidate == asked.Candidate
}

func (s *Service) repeat(ctx context.Context, p auth.Principal, ref Ref, r repeat) (Version, error) {
	head, err := s.store.Update(ctx, ref, r.body, s.call(p, ref).decideRepeat(r))
	return head.Version, err
}

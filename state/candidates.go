package state

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// AddCandidate keeps a body, such as an errored.tfstate, without making it a version. Who
// may write may bring one, lock or no lock, and so may a run that a fence keeps out. The same
// bytes on the same version are the same candidate. Faults: StateInvalid, CandidatesFull,
// BytesPurged.
func (s *Service) AddCandidate(ctx context.Context, p auth.Principal, name Name, body []byte,
	reason string) (Candidate, error) {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return Candidate{}, err
	}
	next, err := s.describe(p, ref, body)
	if err != nil {
		return Candidate{}, err
	}
	next.Origin.Reason = reason
	call := s.call(p, ref)
	for {
		var made *Candidate
		_, err := s.decide(ctx, ref, body, &call, func() Decide { return call.decideCandidate(next, &made) })
		if err != nil {
			return Candidate{}, err
		}
		kept, err := s.describedCandidate(ctx, ref, made.ID)
		if err != nil || kept.Status == Open {
			return kept, err
		}
		call.again++
	}
}

// Candidates lists a state's candidates, the newest first: all open ones and up to limit of
// those that were settled; after a settled one, those that came before it. next continues
// the list as after, and is empty at its end.
func (s *Service) Candidates(ctx context.Context, p auth.Principal, name Name, after string,
	limit int) (page []Candidate, next string, err error) {
	ref, err := s.authorize(ctx, p, auth.ReadMetadata, name)
	if err != nil {
		return nil, "", err
	}
	page, err = s.store.Candidates(ctx, ref, after, limit)
	settled := 0
	for _, c := range page {
		if c.Status != Open {
			next = c.ID
			settled++
		}
	}
	if settled < limit {
		next = ""
	}
	return page, next, err
}

// Candidate returns one with its bytes, as long as it is open. The caller releases it.
// Faults: CandidateNotFound, Overloaded.
func (s *Service) Candidate(ctx context.Context, p auth.Principal, name Name, id string) (LoadedCandidate, error) {
	ref, err := s.authorize(ctx, p, auth.ReadState, name)
	if err != nil {
		return LoadedCandidate{}, err
	}
	known, err := s.describedCandidate(ctx, ref, id)
	l := LoadedCandidate{CandidateBody{Candidate: known}, s.hold(ref)}
	if err != nil || known.Status != Open {
		return l, err
	}
	if err := l.hold.AcquireNow(known.Size); err != nil {
		return LoadedCandidate{}, err
	}
	if l.CandidateBody, err = s.store.Candidate(ctx, ref, id); err != nil || l.Body == nil {
		l.Release()
		return l, err
	}
	s.noteRead(ctx, p, ref, 0, "candidate "+id)
	return l, nil
}

// Promote makes a candidate the newest version, byte for byte, past all guards, and
// settles its twins: the state's open candidates with the same content, apart from the serial.
// anyway accepts that the state has moved on since the candidate came. Faults: CandidateNotFound,
// CandidateSettled, CandidateStale, LockHeld, LockNotHeld, LockRequired, BytesPurged,
// Overloaded.
func (s *Service) Promote(ctx context.Context, p auth.Principal, name Name, id string, d Decision) (Version, error) {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return Version{}, err
	}
	if err := s.mayRestore(ctx, p, name, d.RestorePurged); err != nil {
		return Version{}, err
	}
	known, err := s.describedCandidate(ctx, ref, id)
	if err != nil {
		return Version{}, err
	}
	if known.Status != Open {
		return s.promoted(ctx, ref, known, d.LockID)
	}
	hold, err := s.acquireToWrite(ctx, ref, known.Size, withID(d.LockID))
	if err != nil {
		return Version{}, err
	}
	defer hold.Release()
	candidate, err := s.store.Candidate(ctx, ref, id)
	if err != nil {
		return Version{}, err
	}
	if candidate.Status != Open {
		return s.promoted(ctx, ref, candidate.Candidate, d.LockID)
	}
	next, err := s.describe(p, ref, candidate.Body)
	if err != nil {
		return Version{}, err
	}
	next.Warnings, next.Origin = candidate.Warnings, Origin{Candidate: id, Reason: d.Reason}
	return s.repeat(ctx, p, ref, repeat{
		next: next, body: candidate.Body, base: candidate.Number, anyway: d.Anyway, lockID: d.LockID,
		settle:        &Settlement{ID: id, Status: Promoted, At: s.clock(), Content: contentOf(candidate.Body)},
		restorePurged: d.RestorePurged,
	})
}

// promoted answers for a candidate that is settled: when it is the newest version, the
// caller asks again because the answer got lost.
func (s *Service) promoted(ctx context.Context, ref Ref, c Candidate, lockID string) (Version, error) {
	head, err := s.store.Head(ctx, ref)
	if err != nil {
		return Version{}, err
	}
	again := repeat{next: Version{Origin: Origin{Candidate: c.ID}}}
	if c.Status != Promoted || !again.isNewest(head) {
		return Version{}, errSettled(c)
	}
	if !settled(head, lockID, false) {
		err = mayChange(head, lockID)
	}
	return head.Version, err
}

// Decision is what somebody says who promotes a candidate.
type Decision struct {
	Reason string
	LockID string // of the lock that they hold; empty while nobody holds it
	Anyway bool   // also when there is a newer version than the candidate knew
	// RestorePurged is that of Write.
	RestorePurged bool
}

// Discard ends a candidate; its bytes go. Faults: CandidateNotFound, CandidateSettled.
func (s *Service) Discard(ctx context.Context, p auth.Principal, name Name, id, reason string) error {
	ref, err := s.authorize(ctx, p, auth.WriteState, name)
	if err != nil {
		return err
	}
	_, err = s.store.Update(ctx, ref, nil, s.call(p, ref).decideDiscard(id, reason))
	if !fault.Is(err, fault.CandidateSettled) {
		return err
	}
	candidate, err := s.store.Candidate(ctx, ref, id)
	if err == nil && candidate.Status != Discarded { // else a replay
		err = errSettled(candidate.Candidate)
	}
	return err
}

package state

import (
	"context"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

// Every body that the service has in memory is acquired from one budget before it is
// loaded, by its own size and by its organization. A request that has a body acquires what
// it needs beside that at once or is refused; it never waits with something in hand.

// Within has the service acquire the memory for bodies from a budget, which bounds what
// there is of them at once. Without one nothing does.
func (s *Service) Within(memory *budget.Budget) *Service {
	s.memory = memory
	return s
}

// Loaded is a version with its bytes, and the memory that they take until Release.
type Loaded struct {
	Snapshot
	hold budget.Hold
}

// Release gives the memory back. Nobody may look at the bytes any more.
func (l *Loaded) Release() { l.hold.Release() }

// LoadedCandidate is a candidate with its bytes, and the memory that they take until
// Release.
type LoadedCandidate struct {
	CandidateBody
	hold budget.Hold
}

// Release gives the memory back. Nobody may look at the bytes any more.
func (l *LoadedCandidate) Release() { l.hold.Release() }

// Cache is a Store that keeps newest versions in memory.
type Cache interface {
	// Cached returns what Current would return now, if that is in memory and, unless number is
	// 0, has that number. A store that others write to as well looks up whether it still is, once
	// and by key, when it has something; that look-up's error is the only one.
	Cached(ctx context.Context, ref Ref, number uint64) (s Snapshot, some bool, err error)
}

func (s *Service) hold(ref Ref) budget.Hold { return s.memory.Hold(budget.Share{Org: ref.Org}) }

// load returns a version for which there is memory now; number 0 is the newest of a state
// that exists. A newest version that is in memory already is not asked for its size first:
// what it takes is bounded by the cache that has it, and acquired before the cache can let
// go of it unnoticed. Faults are those of version, and Overloaded.
func (s *Service) load(ctx context.Context, ref Ref, number uint64) (Loaded, error) {
	snapshot, some, err := s.cached(ctx, ref, number)
	if err != nil {
		return Loaded{}, err
	}
	if some {
		l := Loaded{Snapshot: snapshot, hold: s.hold(ref)}
		err := l.hold.AcquireNow(snapshot.Size)
		return l, err
	}
	return s.loadWith(ctx, ref, number, func(size int64) (budget.Hold, error) {
		hold := s.hold(ref)
		err := hold.AcquireNow(size)
		return hold, err
	})
}

// loadWith is load from the store, with memory that acquire has acquired. A version that turns out to be larger than
// the store described it, since a larger one was written meanwhile or the store contradicts itself, is read again with
// memory for what was read: each time round takes more than the one before.
func (s *Service) loadWith(ctx context.Context, ref Ref, number uint64,
	acquire func(size int64) (budget.Hold, error)) (Loaded, error) {
	known, err := s.describedVersion(ctx, ref, number)
	if err != nil && !fault.Is(err, fault.StateNotFound) { // which version says best
		return Loaded{}, err
	}
	for size := known.Size; ; {
		l, err := s.loadInto(ctx, ref, number, func() (budget.Hold, error) { return acquire(size) })
		if err != nil || l.Size <= size {
			return l, err
		}
		size = l.Size
		l.Release()
	}
}

// loadInto reads a version into memory that acquire acquires. After an error, or when the store
// panics, nothing is held.
func (s *Service) loadInto(ctx context.Context, ref Ref, number uint64,
	acquire func() (budget.Hold, error)) (Loaded, error) {
	hold, err := acquire()
	if err != nil {
		return Loaded{}, err
	}
	read := false
	defer func() {
		if !read {
			hold.Release()
		}
	}()
	snapshot, err := s.version(ctx, ref, number)
	if err != nil {
		return Loaded{}, err
	}
	read = true
	return Loaded{snapshot, hold}, nil
}

func (s *Service) cached(ctx context.Context, ref Ref, number uint64) (Snapshot, bool, error) {
	if cache, ok := s.store.(Cache); ok {
		return cache.Cached(ctx, ref, number)
	}
	return Snapshot{}, false, nil
}

// describedVersion returns what describes a version, without its bytes. Faults are those of
// version.
func (s *Service) describedVersion(ctx context.Context, ref Ref, number uint64) (Version, error) {
	if number == 0 {
		head, err := s.store.Head(ctx, ref)
		if err == nil && !head.Exists() {
			return Version{}, fault.New(fault.StateNotFound, "there is no such state")
		}
		return head.Version, err
	}
	found, err := s.store.Versions(ctx, ref, number+1, 1)
	if err != nil {
		return Version{}, err
	}
	if len(found) == 0 || found[0].Number != number {
		return Version{}, errNoVersion(number)
	}
	return found[0], nil
}

// describedCandidate returns what describes a candidate, without its bytes: those that have
// any are all on the list's first page. Its fault is CandidateNotFound.
func (s *Service) describedCandidate(ctx context.Context, ref Ref, id string) (Candidate, error) {
	page, err := s.store.Candidates(ctx, ref, "", 1)
	if err != nil {
		return Candidate{}, err
	}
	for _, c := range page {
		if c.ID == id {
			return c, nil
		}
	}
	settled, err := s.store.Candidate(ctx, ref, id)
	return settled.Candidate, err
}

// read returns the bytes of a version that the caller has acquired memory for.
func (s *Service) read(ctx context.Context, ref Ref, known Version) (Snapshot, error) {
	snapshot, err := s.version(ctx, ref, known.Number)
	if err == nil && snapshot.Size > known.Size {
		return Snapshot{}, s.memory.Refuse() // the state was removed for good, and there is another one
	}
	return snapshot, err
}

// acquireToWrite acquires memory for what a write needs beside its own body. It waits for
// nobody. Where there is none left it has a part of what is kept for lock holders, if the
// caller is one.
func (s *Service) acquireToWrite(ctx context.Context, ref Ref, n int64, holds func(*Lock) bool) (budget.Hold, error) {
	hold := s.hold(ref)
	if hold.TryAcquire(n) {
		return hold, nil
	}
	head, err := s.store.Head(ctx, ref)
	if err != nil {
		return hold, err
	}
	if head.Lock != nil && holds(head.Lock) {
		hold = s.memory.Hold(budget.Share{Org: ref.Org, Holder: true})
	}
	err = hold.AcquireNow(n)
	return hold, err
}

// withID tells the lock that a write names.
func withID(id string) func(*Lock) bool {
	return func(lock *Lock) bool { return id != "" && lock.Info.ID == id }
}

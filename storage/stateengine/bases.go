package stateengine

import (
	"crypto/sha256"
	"math"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/state"
)

// BasesBytes bounds the bases that are kept in memory. One that is not there is read, which
// takes 1 ms of CPU for 1 MB.
const BasesBytes = 32 << 20

// BaseID tells a base from all others, also from one that has its row since.
type BaseID struct {
	ID     int64 // as the engine knows it: its row, or its state's
	Number uint64
	Digest [sha256.Size]byte
}

// Base is a version that is stored whole and that others may be deltas of.
type Base struct {
	BaseID
	Kept   []byte // what its row has for its digest
	Body   []byte // nil says that there is none, as the state's versions are encrypted
	Packed int    // how many bytes the database has of it
	Newest uint64 // the state's newest version, as far as is known
}

// Serves reports whether a version of this number and size may be a delta of b.
func (b *Base) Serves(number uint64, size int) bool {
	return len(b.Body) > 0 && b.Reaches(number) && len(b.Body) <= baseRatio*size
}

// Reaches reports whether a version of this number is near enough.
func (b *Base) Reaches(number uint64) bool {
	return max(number, b.Number)-min(number, b.Number) < GroupLength
}

// Bases keeps the newest base of each of the states that were written last. It may be
// behind: who writes a delta makes sure in the transaction that its base is there (see Questions),
// or has it from a head that is kept, which is exact. To drop one only saves a try.
type Bases struct {
	mu      sync.Mutex
	entries *simplelru.LRU[state.Ref, Base]
	bytes   int
	limit   int
}

// NewBases returns one that keeps about so many bytes.
func NewBases(limit int) *Bases {
	s := &Bases{limit: limit}
	// The only error is a size below one.
	s.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ state.Ref, b Base) { s.bytes -= b.cost() })
	return s
}

// cost is about what an entry takes, with its share of the map and the list.
func (b *Base) cost() int { return 512 + cap(b.Body) }

// Get returns a copy of what is kept of a state; nil for nothing.
func (s *Bases) Get(ref state.Ref) *Base {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.entries.Get(ref); ok {
		return &b
	}
	return nil
}

// Keep remembers b, unless a newer version than b knows of is known.
func (s *Bases) Keep(ref state.Ref, b Base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.entries.Peek(ref); ok && old.Newest > b.Newest {
		return
	}
	s.entries.Remove(ref)
	if b.cost() > s.limit/2 {
		return
	}
	s.bytes += b.cost()
	s.entries.Add(ref, b)
	for s.bytes > s.limit {
		s.entries.RemoveOldest()
	}
}

// Drop forgets what is kept of a state.
func (s *Bases) Drop(ref state.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries.Remove(ref)
}

// DropOrg drops those of an organization.
func (s *Bases) DropOrg(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range s.entries.Keys() {
		if ref.Org == org {
			s.entries.Remove(ref)
		}
	}
}

package sqlite

import (
	"crypto/sha256"
	"math"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/state"
)

// basesBytes bounds the bases that are kept in memory. One that is not there is read, which
// takes 1 ms of CPU for 1 MB.
const basesBytes = 32 << 20

// baseID tells a base from all others, also from one that has its row since.
type baseID struct {
	id     int64 // its row
	number uint64
	digest [sha256.Size]byte
}

// base is a version that is stored whole and that others may be deltas of.
type base struct {
	baseID
	body   []byte // nil says that there is none, as the state's versions are encrypted
	packed int    // how many bytes the database has of it
	newest uint64 // the state's newest version, as far as is known
}

// serves reports whether a version may be a delta of b.
func (b *base) serves(number uint64, size int) bool {
	return len(b.body) > 0 && b.reaches(number) && len(b.body) <= baseRatio*size
}

func (b *base) reaches(number uint64) bool {
	return max(number, b.number)-min(number, b.number) < groupLength
}

// bases keeps the newest base of each of the states that were written last. It may be
// behind: who writes a delta makes sure in the transaction that its base is there (isBaseOf),
// or has it from a head that is kept, which is exact. To drop one only saves a try.
type bases struct {
	mu      sync.Mutex
	entries *simplelru.LRU[state.Ref, base]
	bytes   int
	limit   int
}

func newBases(limit int) *bases {
	s := &bases{limit: limit}
	// The only error is a size below one.
	s.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ state.Ref, b base) { s.bytes -= b.cost() })
	return s
}

// cost is about what an entry takes, with its share of the map and the list.
func (b *base) cost() int { return 512 + cap(b.body) }

func (s *bases) get(ref state.Ref) *base {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.entries.Get(ref); ok {
		return &b
	}
	return nil
}

// keep remembers b, unless a newer version than b knows of is known.
func (s *bases) keep(ref state.Ref, b base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.entries.Peek(ref); ok && old.newest > b.newest {
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

func (s *bases) drop(ref state.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries.Remove(ref)
}

// dropOrg drops those of an organization.
func (s *bases) dropOrg(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range s.entries.Keys() {
		if ref.Org == org {
			s.entries.Remove(ref)
		}
	}
}

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
	Kept []byte // what its row has for its digest
	// Body is nil where it is not in memory, and where there is none, as the state's versions are encrypted: then Size
	// is 0.
	Body   []byte
	Size   int
	Packed int    // how many bytes the database has of it
	Newest uint64 // the state's newest version, as far as is known
	// Steps is a script that leads from the body to the version of the digest To, which is the newest as far as is
	// known; nil where there is none. With that version at hand nobody has to read the body.
	Steps []byte
	To    state.Digest
}

// Serves reports whether a version of this number and size may be a delta of b.
func (b *Base) Serves(number uint64, size int) bool {
	return b.Size > 0 && b.Reaches(number) && b.Size <= baseRatio*size
}

// Reaches reports whether a version of this number is near enough.
func (b *Base) Reaches(number uint64) bool {
	return max(number, b.Number)-min(number, b.Number) < GroupLength
}

// helps reports whether it saves anybody anything to know b.
func (b *Base) helps() bool { return b.Size == 0 || b.Body != nil || b.Steps != nil }

// cost is about what an entry takes, with its share of the map and the list.
func (b *Base) cost() int { return 512 + cap(b.Body) + cap(b.Steps) }

// Bases keeps the newest base of each of the states that were written last. It may be
// behind: who writes a delta makes sure in the transaction that its base is there (see Questions),
// or has it from a head that is kept, which is exact. To drop one only saves a try.
type Bases struct {
	mu sync.Mutex
	// What there is no room for with its body is bare: it says how to get to the newest version.
	whole, bare shelf
}

// barePart is the part of the room for bases that there is for bare ones beside them.
const barePart = 8

// NewBases returns one that keeps about so many bytes.
func NewBases(limit int) *Bases {
	return &Bases{whole: newShelf(limit), bare: newShelf(limit / barePart)}
}

// NewBareBases returns one that keeps no bodies, as if there were always room for none: tests of engines have it.
func NewBareBases(limit int) *Bases { return &Bases{whole: newShelf(0), bare: newShelf(limit)} }

// Get returns a copy of what is kept of a state; nil for nothing.
func (s *Bases) Get(ref state.Ref) *Base {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shelf := range s.shelves() {
		if b, ok := shelf.entries.Get(ref); ok {
			return &b
		}
	}
	return nil
}

// Keep remembers b, unless a newer version than b knows of is known.
func (s *Bases) Keep(ref state.Ref, b Base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shelf := range s.shelves() {
		if old, ok := shelf.entries.Peek(ref); ok && old.Newest > b.Newest {
			return
		}
		shelf.entries.Remove(ref)
	}
	s.whole.put(ref, b, func(ref state.Ref, b Base) {
		if b.Body = nil; b.helps() {
			s.bare.put(ref, b, func(state.Ref, Base) {})
		}
	})
}

// Drop forgets what is kept of a state.
func (s *Bases) Drop(ref state.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shelf := range s.shelves() {
		shelf.entries.Remove(ref)
	}
}

// DropOrg drops those of an organization.
func (s *Bases) DropOrg(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shelf := range s.shelves() {
		for _, ref := range shelf.entries.Keys() {
			if ref.Org == org {
				shelf.entries.Remove(ref)
			}
		}
	}
}

func (s *Bases) shelves() [2]*shelf { return [...]*shelf{&s.whole, &s.bare} }

// shelf has bases up to so many bytes, those that were used last. Bases.mu guards it.
type shelf struct {
	entries *simplelru.LRU[state.Ref, Base]
	bytes   *int
	limit   int
}

func newShelf(limit int) shelf {
	s := shelf{bytes: new(int), limit: limit}
	// The only error is a size below one.
	s.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ state.Ref, b Base) { *s.bytes -= b.cost() })
	return s
}

// put adds b, which is not there, and hands on what there is no room for: it may be b itself.
func (s *shelf) put(ref state.Ref, b Base, full func(state.Ref, Base)) {
	if b.cost() > s.limit/2 {
		full(ref, b)
		return
	}
	*s.bytes += b.cost()
	s.entries.Add(ref, b)
	for *s.bytes > s.limit {
		ref, b, _ := s.entries.RemoveOldest()
		full(ref, b)
	}
}

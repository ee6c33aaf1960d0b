package state

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/state/document"
)

const (
	// tallyFrom is the size from which on a body is counted beside the version before it, in bytes.
	tallyFrom = 64 << 10
	// talliesBytes bounds what is known of bodies: of 10 MB it is some 60 KB.
	talliesBytes = 4 << 20
)

// Lender is a Store that has versions in memory.
type Lender interface {
	// Lent returns the state's newest version, or one that was it once, if it is in memory. Its bytes belong to the store.
	Lent(ref Ref) (Snapshot, bool)
}

// tally is what was found out of the entries of a body that somebody wanted to store.
type tally struct {
	digest  Digest
	entries document.Entries
}

// tallies know of states what was counted of them last. Where the version that it was counted of is in memory, the
// next one is compared with that, and only what differs is looked into.
type tallies struct {
	// places are left for those who have a version in hand that the store may let go of meanwhile. Nobody waits for one:
	// without it a body is looked into whole.
	places atomic.Int32

	mu    sync.Mutex
	known *simplelru.LRU[Ref, tally]
	bytes int
}

func newTallies() *tallies {
	t := &tallies{}
	t.places.Store(int32(2 * runtime.GOMAXPROCS(0)))
	// The only error is a size below one.
	t.known, _ = simplelru.NewLRU(math.MaxInt, func(_ Ref, one tally) { t.bytes -= one.cost() })
	return t
}

// cost is about what an entry takes, with its share of the map and the list.
func (t tally) cost() int { return 256 + t.entries.Bytes() }

func (t *tallies) of(ref Ref) tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, _ := t.known.Get(ref)
	return one
}

func (t *tallies) keep(ref Ref, one tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Remove(ref)
	if one.entries == nil || one.cost() > talliesBytes/2 {
		return
	}
	t.bytes += one.cost()
	t.known.Add(ref, one)
	for t.bytes > talliesBytes {
		t.known.RemoveOldest()
	}
}

// surveyed is survey of a body that is to be the state's next version, with its digest.
func (s *Service) surveyed(ref Ref, body []byte, digest Digest) (Summary, int, error) {
	if len(body) < tallyFrom {
		return survey(body)
	}
	before, known, release := s.before(ref)
	defer release()
	var f fields
	counts, entries, err := document.CountAfter(body, f.member, before, known)
	if err != nil {
		return survey(body) // which says what it is instead
	}
	s.tallies.keep(ref, tally{digest, entries})
	return f.summary, counts.Managed.Instances, nil
}

// before returns the version that was counted last, if it is in memory and there is a place for who has it in hand. The
// caller releases it.
func (s *Service) before(ref Ref) (body []byte, known document.Entries, release func()) {
	release = func() {}
	one := s.tallies.of(ref)
	if one.entries == nil {
		return nil, nil, release
	}
	giveBack := func() { s.tallies.places.Add(1) }
	if s.tallies.places.Add(-1) >= 0 {
		if lent, some := s.lent(ref); some && lent.Digest == one.digest {
			return lent.Body, one.entries, giveBack
		}
	}
	giveBack()
	return nil, nil, release
}

func (s *Service) lent(ref Ref) (Snapshot, bool) {
	if lender, ok := s.store.(Lender); ok {
		return lender.Lent(ref)
	}
	return Snapshot{}, false
}

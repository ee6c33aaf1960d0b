// Package memory keeps states in memory, for tests and throwaway use. It survives nothing.
package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Store is a state.Store in memory. It keeps every version, the bytes as they were given
// to it, and refuses what would take it over its limit.
type Store struct {
	limit int64
	looks int // the constant; tests have few events looked at

	// mu is held while a decision runs, so that no other Update comes between. Bodies are
	// shared and never copied: no call holds it for longer because of a state's size.
	mu     sync.RWMutex
	states map[state.Ref]*entry
	events []audit.Event             // Sequence n at n-1
	links  []link                    // beside events
	chains map[uuid.UUID]audit.Chain // with Removed
	used   int64
	usage  map[uuid.UUID]int64 // what Usage says
	census *state.Census
	closed bool
}

// entry is one state that was written or locked at least once.
type entry struct {
	head state.Head
	// versions are in the order of their numbers; retention may have taken the first
	// ones. They are pointers so that appending stays quick.
	versions []*state.Snapshot
	used     map[string]bool // lock IDs that were released
	purged   map[state.Digest]bool
	// candidates by their IDs, and those in the order they came.
	candidates map[string]*state.CandidateBody
	brought    []string
}

func newEntry() *entry {
	return &entry{used: map[string]bool{}, purged: map[state.Digest]bool{}, candidates: map[string]*state.CandidateBody{}}
}

// find returns the version with this number, nil when there is none.
func (e *entry) find(number uint64) *state.Snapshot {
	i, found := slices.BinarySearchFunc(e.versions, number,
		func(s *state.Snapshot, n uint64) int { return cmp.Compare(s.Number, n) })
	if !found {
		return nil
	}
	return e.versions[i]
}

// New returns an empty store that keeps at most maxBytes: the bodies, and a fixed amount
// for each state, version and lock.
func New(maxBytes int64) *Store {
	return &Store{limit: maxBytes, looks: looks, states: make(map[state.Ref]*entry), usage: make(map[uuid.UUID]int64),
		chains: make(map[uuid.UUID]audit.Chain), census: state.NewCensus()}
}

// Current implements state.Store.
func (s *Store) Current(_ context.Context, ref state.Ref) (state.Snapshot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return state.Snapshot{}, errClosed()
	}
	e := s.states[ref]
	if e == nil || !e.head.Exists() {
		return state.Snapshot{}, fault.New(fault.StateNotFound, "there is no such state")
	}
	return whole(e.versions[len(e.versions)-1])
}

// whole returns a version unless its bytes were destroyed.
func whole(v *state.Snapshot) (state.Snapshot, error) {
	if v.Purged {
		return state.Snapshot{}, fault.New(fault.VersionPurged, "the bytes of version %d were destroyed on purpose", v.Number)
	}
	return *v, nil
}

// Head implements state.Store.
func (s *Store) Head(_ context.Context, ref state.Ref) (state.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return state.Head{}, errClosed()
	}
	if e := s.states[ref]; e != nil {
		return e.head, nil
	}
	return state.Head{}, nil
}

// Version implements state.Store.
func (s *Store) Version(_ context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return state.Snapshot{}, errClosed()
	}
	if e := s.states[ref]; e != nil {
		if v := e.find(number); v != nil {
			return whole(v)
		}
	}
	return state.Snapshot{}, errNoVersion(number)
}

// Ready implements state.Store.
func (s *Store) Ready(context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.closed:
		return errClosed()
	case s.used+stateCost+versionCost > s.limit:
		return s.errFull()
	}
	return nil
}

// Close implements state.Store, and forgets everything.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.states, s.events, s.usage, s.used = true, nil, nil, nil, 0
	s.links, s.chains = nil, nil
	return nil
}

func errNoVersion(number uint64) error {
	return fault.New(fault.StateNotFound, "there is no version %d of this state", number)
}

func errNoCandidate(id string) error {
	return fault.New(fault.CandidateNotFound, "the state has no candidate %q", id)
}

func errClosed() error {
	return fault.New(fault.StoreUnavailable, "the store is closed")
}

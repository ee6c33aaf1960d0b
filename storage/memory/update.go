package memory

import (
	"context"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// What an entry is counted with on top of its bytes: the structs, the short texts in
// them, and their share of the map.
const (
	stateCost   = 2048 // with a name and a released ID of the greatest length
	versionCost = 512
	lockCost    = 512
)

// Update implements state.Store.
func (s *Store) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock() // deferred, because decide is not ours and may panic
	if s.closed {
		return state.Head{}, errClosed()
	}
	if err := ctx.Err(); err != nil {
		return state.Head{}, err
	}
	e := s.states[ref]
	if e == nil {
		e = &entry{}
	}
	change, err := decide(e.head)
	if err != nil {
		return state.Head{}, err
	}
	if change == (state.Change{}) {
		return e.head, nil
	}
	return s.record(ref, e, body, change)
}

// record makes the change, or nothing of it when it is wrong or there is no room.
func (s *Store) record(ref state.Ref, e *entry, body []byte, change state.Change) (state.Head, error) {
	next, err := e.head.After(change, len(body))
	if err != nil {
		return state.Head{}, err
	}
	added := costOfHead(next) - costOfHead(e.head)
	if change.Version != nil {
		added += costOfVersion(next.Version, body)
	}
	// What makes room must go through in a full store too: an UNLOCK above all.
	if added > 0 && s.used+added > s.limit {
		return state.Head{}, s.errFull()
	}
	if change.Version != nil {
		e.versions = append(e.versions, &state.Snapshot{Version: next.Version, Body: body})
	}
	e.head = next
	s.states[ref] = e
	s.used += added
	return next, nil
}

// costOfHead is what a state takes up short of its versions; nothing for one that was
// never recorded.
func costOfHead(h state.Head) int64 {
	switch {
	case h == (state.Head{}):
		return 0
	case h.Lock == nil:
		return stateCost
	}
	// Twice: the bytes as they came, and the fields parsed from them.
	return stateCost + lockCost + 2*int64(len(h.Lock.Info.Raw))
}

func costOfVersion(v state.Version, body []byte) int64 {
	return versionCost + int64(len(body)+len(v.Author.Who)+len(v.Author.Operation))
}

func (s *Store) errFull() error {
	return fault.New(fault.StoreFull, "the store in memory is full")
}

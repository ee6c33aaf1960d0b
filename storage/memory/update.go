package memory

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// What an entry is counted with on top of its bytes: the structs, the short texts in
// them, and their share of the map.
const (
	stateCost    = 2048 // with a name and a released ID of the greatest length
	versionCost  = 512
	lockCost     = 512
	expectedCost = 1024 // with names of the greatest length
	eventCost    = 512
	idCost       = 64 // of a lock ID that was released, besides its text
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
		e = newEntry()
	}
	change, err := decide(e.head)
	if err != nil {
		return state.Head{}, err
	}
	if change.Empty() {
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
	if err := e.allows(change); err != nil {
		return state.Head{}, err
	}
	isNew := s.states[ref] == nil
	if stored := e.stores(change, body); change.Allow != nil && change.Grows(stored) {
		if err := change.Allow(s.usage[ref.Org], change.Adds(isNew, e.head.Lock, stored)); err != nil {
			return state.Head{}, err
		}
	}
	added := e.cost(next, body, change)
	// What makes room must go through in a full store too: an UNLOCK above all.
	if added > 0 && s.used+added > s.limit && !makesRoom(change) {
		return state.Head{}, s.errFull()
	}
	kept := next != (state.Head{}) || change.Candidate != nil || !isNew
	grown := e.grows(change, next, isNew && kept, body)
	e.record(change, next, body)
	s.census.Note(ref, e.head, next)
	s.census.Settle()
	e.head = next
	if kept {
		s.states[ref] = e
		s.count(ref.Org, grown)
	}
	s.used += added
	for _, event := range change.Events {
		event.At, event.Org, event.State = change.At, ref.Org, string(ref.Name)
		s.addEvent(event)
	}
	return next, nil
}

// allows refuses what the state's own history forbids.
func (e *entry) allows(change state.Change) error {
	if l := change.Lock; l != nil &&
		(e.used[l.Info.ID] || change.Release && e.head.Lock != nil && e.head.Lock.Info.ID == l.Info.ID) {
		return fault.New(fault.LockIDUsed, "a lock with this ID was released before; an ID is good for one lock")
	}
	if digest, some := change.Brings(); some && e.purged[digest] {
		return fault.New(fault.BytesPurged, "these bytes were purged from the state")
	}
	if c := change.Candidate; c != nil && e.candidates[c.ID] == nil && e.open() >= state.MaxOpenCandidates {
		return fault.New(fault.CandidatesFull, "the state has %d open candidates; promote or discard one first",
			state.MaxOpenCandidates)
	}
	if s := change.Settle; s != nil && s.ID != "" {
		c := e.candidates[s.ID]
		if c == nil {
			return errNoCandidate(s.ID)
		}
		if c.Status != state.Open {
			return fault.New(fault.CandidateSettled, "candidate %s was %s already", c.ID, c.Status)
		}
	}
	return nil
}

// cost is what the change adds to the bytes in use.
func (e *entry) cost(next state.Head, body []byte, change state.Change) int64 {
	added := costOfHead(next) - costOfHead(e.head) + eventCost*int64(len(change.Events))
	if change.Version != nil {
		added += costOfVersion(next.Version, body)
	}
	if change.Release && e.head.Lock != nil {
		added += idCost + int64(len(e.head.Lock.Info.ID))
	}
	if c := change.Candidate; c != nil && e.candidates[c.ID] == nil {
		added += versionCost + int64(len(body))
	}
	return added - e.settles(change)
}

// settles is how many bytes of candidates go with the change.
func (e *entry) settles(change state.Change) (bytes int64) {
	if change.Settle == nil {
		return 0
	}
	for _, c := range e.candidates {
		if change.Settle.Ends(c.Candidate) {
			bytes += int64(len(c.Body))
		}
	}
	return bytes
}

// makesRoom reports whether the change must go through in a full store too.
func makesRoom(change state.Change) bool {
	return change.Version == nil && change.Candidate == nil && change.Lock == nil
}

// record enters the parts of a change that the head does not have.
func (e *entry) record(change state.Change, next state.Head, body []byte) {
	if change.Version != nil {
		e.versions = append(e.versions, &state.Snapshot{Version: next.Version, Body: body})
	}
	if change.Release && e.head.Lock != nil {
		e.used[e.head.Lock.Info.ID] = true
	}
	if c := change.Candidate; c != nil && e.candidates[c.ID] == nil {
		kept := *c
		kept.CreatedAt = kept.CreatedAt.UTC().Truncate(time.Microsecond)
		e.candidates[c.ID] = &state.CandidateBody{Candidate: kept, Body: body}
		e.brought = append(e.brought, c.ID)
	}
	if change.Settle != nil {
		e.decide(*change.Settle)
	}
}

func (e *entry) decide(s state.Settlement) {
	for id, c := range e.candidates {
		if s.Ends(c.Candidate) {
			settled := *c // readers may have the old one
			settled.Status, settled.Decided, settled.Body = s.Status, s.At.UTC().Truncate(time.Microsecond), nil
			e.candidates[id] = &settled
		}
	}
}

// open counts the open candidates.
func (e *entry) open() int {
	n := 0
	for _, c := range e.candidates {
		if c.Status == state.Open {
			n++
		}
	}
	return n
}

// Record implements state.Store.
func (s *Store) Record(ctx context.Context, event audit.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed()
	case ctx.Err() != nil:
		return ctx.Err()
	case s.used+eventCost > s.limit:
		return s.errFull()
	}
	s.used += eventCost
	s.addEvent(event)
	return nil
}

func (s *Store) addEvent(event audit.Event) {
	event.Sequence = uint64(len(s.events)) + 1
	event.At = event.At.UTC().Truncate(time.Microsecond)
	if n := len(s.events); n > 0 && event.At.Before(s.events[n-1].At) {
		event.At = s.events[n-1].At
	}
	s.events = append(s.events, event)
	s.chain(event)
}

// costOfHead is what a state takes up short of its versions; nothing for one that was
// never recorded.
func costOfHead(h state.Head) int64 {
	switch {
	case h == (state.Head{}):
		return 0
	case h.Expected != nil:
		e := *h.Expected
		h.Expected = nil
		return costOfHead(h) + expectedCost + int64(len(e.Reason))
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

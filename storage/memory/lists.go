package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// States implements state.Store. It looks at every state: this engine is for little.
func (s *Store) States(_ context.Context, org uuid.UUID, q state.StatesQuery) ([]state.Listed, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	var listed []state.Listed
	for ref, e := range s.states {
		if ref.Org == org && ref.Name > q.After && strings.HasPrefix(string(ref.Name), q.Prefix) && e.wanted(q) {
			listed = append(listed, state.Listed{Name: ref.Name, Head: e.head, OpenCandidates: e.open()})
		}
	}
	slices.SortFunc(listed, func(a, b state.Listed) int { return cmp.Compare(a.Name, b.Name) })
	return listed[:min(len(listed), q.Limit)], nil
}

func (e *entry) wanted(q state.StatesQuery) bool {
	if q.Locked {
		return e.head.Lock != nil
	}
	return (e.head.Version.Number > 0 || e.open() > 0) && q.Deleted.Selects(e.head.Deleted)
}

// Versions implements state.Store.
func (s *Store) Versions(_ context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	e := s.states[ref]
	if e == nil {
		return nil, nil
	}
	var versions []state.Version
	for _, v := range slices.Backward(e.versions) {
		if len(versions) < limit && (before == 0 || v.Number < before) {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}

// Candidates implements state.Store.
func (s *Store) Candidates(_ context.Context, ref state.Ref, after string, limit int) ([]state.Candidate, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	e := s.states[ref]
	if e == nil {
		return nil, nil
	}
	ids := e.brought
	if after != "" {
		ids = ids[:max(slices.Index(ids, after), 0)]
	}
	var found []state.Candidate
	settled := 0
	for _, id := range slices.Backward(ids) {
		c := e.candidates[id].Candidate
		if c.Status != state.Open {
			settled++
		}
		if c.Status == state.Open && after == "" || c.Status != state.Open && settled <= limit {
			found = append(found, c)
		}
	}
	return found, nil
}

// Candidate implements state.Store.
func (s *Store) Candidate(_ context.Context, ref state.Ref, id string) (state.CandidateBody, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return state.CandidateBody{}, errClosed()
	}
	if e := s.states[ref]; e != nil && e.candidates[id] != nil {
		return *e.candidates[id], nil
	}
	return state.CandidateBody{}, errNoCandidate(id)
}

// Events implements state.Store.
func (s *Store) Events(_ context.Context, org uuid.UUID, q audit.Query) ([]audit.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	var events []audit.Event
	for _, e := range slices.Backward(s.events) {
		if len(events) < q.Limit && e.Org == org && q.Matches(e) {
			events = append(events, e)
		}
	}
	return events, nil
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

// Feed implements state.Store.
func (s *Store) Feed(_ context.Context, after uint64, limit int) ([]audit.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	rest := s.events[min(after, uint64(len(s.events))):]
	return slices.Clone(rest[:min(len(rest), limit)]), nil
}

// All implements state.Store.
func (s *Store) All(_ context.Context, after state.Ref, limit int) ([]state.Located, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed()
	}
	var all []state.Located
	for ref, e := range s.states {
		if compareRefs(ref, after) > 0 {
			all = append(all, state.Located{Ref: ref, Head: e.head})
		}
	}
	slices.SortFunc(all, func(a, b state.Located) int { return compareRefs(a.Ref, b.Ref) })
	return all[:min(len(all), limit)], nil
}

func compareRefs(a, b state.Ref) int {
	return cmp.Or(bytes.Compare(a.Org[:], b.Org[:]), cmp.Compare(a.Name, b.Name))
}

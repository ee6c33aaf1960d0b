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

// looks is how many events a list looks at before it says where it goes on.
const looks = 10_000

// mayList returns why a list can't be read. The caller holds the lock.
func (s *Store) mayList(ctx context.Context) error {
	if s.closed {
		return errClosed()
	}
	return ctx.Err()
}

// States implements state.Store. It looks at every state: this engine is for little.
func (s *Store) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (page state.Page, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return state.Page{}, err
	}
	var listed []state.Listed
	for ref, e := range s.states {
		if ref.Org == org && ref.Name > q.After && strings.HasPrefix(string(ref.Name), q.Prefix) && e.wanted(ref.Name, q) {
			listed = append(listed, state.Listed{Name: ref.Name, Head: e.head, OpenCandidates: e.open()})
		}
	}
	slices.SortFunc(listed, func(a, b state.Listed) int { return cmp.Compare(a.Name, b.Name) })
	end := fitting(listed, q.Limit)
	if page.States = listed[:end]; end < len(listed) {
		page.Next = listed[end-1].Name
	}
	return page, nil
}

// fitting returns how many states of a list fit into a page.
func fitting(listed []state.Listed, limit int) int {
	size := int64(0)
	for n, one := range listed {
		if size += one.Bytes(); n == limit || n > 0 && size > state.PageBytes {
			return n
		}
	}
	return len(listed)
}

// Names implements state.Store. It looks at every state, as States does.
func (s *Store) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) (names []state.Name, next state.Name, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return nil, "", err
	}
	var all []state.Name
	for ref := range s.states {
		if ref.Org == org && ref.Name > after && strings.HasPrefix(string(ref.Name), prefix) {
			all = append(all, ref.Name)
		}
	}
	slices.Sort(all)
	if len(all) > limit {
		all, next = all[:limit], all[limit-1]
	}
	return slices.DeleteFunc(all, func(name state.Name) bool {
		return !s.states[state.Ref{Org: org, Name: name}].wanted(name, state.StatesQuery{})
	}), next, nil
}

func (e *entry) wanted(name state.Name, q state.StatesQuery) bool {
	if q.Locked {
		return e.head.Lock != nil
	}
	if q.Expected {
		return e.head.Expected != nil
	}
	return (e.head.Version.Number > 0 || e.open() > 0) && q.Deleted.Selects(e.head.Deleted) && q.Picks(name, e.open() > 0)
}

// Versions implements state.Store.
func (s *Store) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return nil, err
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
func (s *Store) Candidates(ctx context.Context, ref state.Ref, after string, limit int) ([]state.Candidate, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return nil, err
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
func (s *Store) Candidate(ctx context.Context, ref state.Ref, id string) (state.CandidateBody, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return state.CandidateBody{}, err
	}
	if e := s.states[ref]; e != nil && e.candidates[id] != nil {
		return *e.candidates[id], nil
	}
	return state.CandidateBody{}, errNoCandidate(id)
}

// Events implements state.Store.
func (s *Store) Events(ctx context.Context, org uuid.UUID, q audit.Query) (page audit.Page, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return audit.Page{}, err
	}
	end := len(s.events)
	if q.Before > 0 {
		end = int(min(q.Before-1, uint64(end)))
	}
	begin := max(end-s.looks, 0)
	for _, e := range slices.Backward(s.events[begin:end]) {
		if e.Org != org || !q.Matches(e) {
			continue
		}
		if page.Events = append(page.Events, e); len(page.Events) == q.Limit {
			page.Next = e.Sequence
			return page, nil
		}
	}
	if begin > 0 {
		page.Next = s.events[begin].Sequence
	}
	return page, nil
}

// Feed implements state.Store.
func (s *Store) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return nil, err
	}
	rest := s.events[min(after, uint64(len(s.events))):]
	return slices.Clone(rest[:min(len(rest), limit)]), nil
}

// All implements state.Store.
func (s *Store) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return nil, err
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

package memory

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// Usage implements state.Store.
func (s *Store) Usage(_ context.Context, org uuid.UUID) (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0, errClosed()
	}
	return s.usage[org], nil
}

// count adds to what an organization has, or takes off.
func (s *Store) count(org uuid.UUID, bytes int64) {
	if s.usage[org] += bytes; s.usage[org] == 0 {
		delete(s.usage, org)
	}
}

// stores is how many bytes of a body a change stores; below zero for none.
func (e *entry) stores(change state.Change, body []byte) int64 {
	if c := change.Candidate; change.Version == nil && (c == nil || e.candidates[c.ID] != nil) {
		return -1
	}
	return int64(len(body))
}

// grows is what a change adds to Usage by all of its parts, and takes off.
func (e *entry) grows(change state.Change, next state.Head, isNew bool, body []byte) int64 {
	added := state.Change{}.Adds(isNew, nil, e.stores(change, body))
	added += state.LockBytes(next.Lock) - state.LockBytes(e.head.Lock)
	return added - e.settles(change)
}

// bytes is what Usage counts of an entry.
func (e *entry) bytes() int64 {
	total := state.RowBytes*int64(1+len(e.versions)+len(e.candidates)) + state.LockBytes(e.head.Lock)
	for _, v := range e.versions {
		total += int64(len(v.Body))
	}
	for _, c := range e.candidates {
		total += int64(len(c.Body))
	}
	return total
}

// Totals implements state.Store.
func (s *Store) Totals(context.Context) (state.Totals, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return state.Totals{}, errClosed()
	}
	return s.census.Totals(), nil
}

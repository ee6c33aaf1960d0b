package memory

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// Purge implements state.Store.
func (s *Store) Purge(ctx context.Context, ref state.Ref, number uint64, event audit.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayRemove(ctx); err != nil {
		return err
	}
	e := s.states[ref]
	if e == nil || e.find(number) == nil {
		return errNoVersion(number)
	}
	v := e.find(number)
	if !v.Purged {
		s.used -= int64(len(v.Body))
		s.count(ref.Org, -int64(len(v.Body)))
		purged := *v // readers may have the old one
		purged.Purged, purged.Body = true, nil
		*v = purged
		if number == e.head.Version.Number {
			e.head.Version.Purged = true
		}
	}
	e.purged[v.Digest] = true
	s.dropTwins(ref.Org, e, v.Version, event.At)
	event.Org, event.State = ref.Org, string(ref.Name)
	s.addEvent(event)
	return nil
}

// dropTwins discards the open candidates that have a purged version's bytes.
func (s *Store) dropTwins(org uuid.UUID, e *entry, v state.Version, at time.Time) {
	for id, c := range e.candidates {
		if c.Status == state.Open && c.Digest == v.Digest {
			s.used -= int64(len(c.Body))
			s.count(org, -int64(len(c.Body)))
			e.decide(state.Settlement{ID: id, Status: state.Discarded, At: at})
		}
	}
}

func (s *Store) mayRemove(ctx context.Context) error {
	if s.closed {
		return errClosed()
	}
	return ctx.Err()
}

// Prune implements state.Store.
func (s *Store) Prune(ctx context.Context, ref state.Ref, p state.Pruning, event audit.Event) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayRemove(ctx); err != nil {
		return 0, err
	}
	e := s.states[ref]
	if e == nil {
		return 0, nil
	}
	n := p.Count(e.aged())
	if n == 0 {
		return 0, nil
	}
	for _, v := range e.versions[:n] {
		s.used -= costOfVersion(v.Version, v.Body)
		s.count(ref.Org, -state.RowBytes-int64(len(v.Body)))
	}
	e.versions = append([]*state.Snapshot(nil), e.versions[n:]...)
	event.Org, event.State, event.Note = ref.Org, string(ref.Name), fmt.Sprintf("%d versions", n)
	s.addEvent(event)
	return n, nil
}

// aged yields the versions, the oldest first.
func (e *entry) aged() iter.Seq[state.Aged] {
	return func(yield func(state.Aged) bool) {
		for i, v := range e.versions {
			if !yield(state.Aged{Number: v.Number, CreatedAt: v.CreatedAt, Newest: i == len(e.versions)-1}) {
				return
			}
		}
	}
}

// Expunge implements state.Store, in one piece.
func (s *Store) Expunge(ctx context.Context, ref state.Ref, before time.Time, _ int, event audit.Event) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayRemove(ctx); err != nil {
		return false, err
	}
	e := s.states[ref]
	if e == nil || !e.head.Deleted || e.head.DeletedAt.After(before) || e.head.Lock != nil || e.open() > 0 {
		return true, nil
	}
	s.drop(ref, e)
	event.Org, event.State = ref.Org, string(ref.Name)
	s.addEvent(event)
	return true, nil
}

// drop forgets a state.
func (s *Store) drop(ref state.Ref, e *entry) {
	for _, v := range e.versions {
		s.used -= costOfVersion(v.Version, v.Body)
	}
	for _, c := range e.candidates {
		s.used -= versionCost + int64(len(c.Body))
	}
	for id := range e.used {
		s.used -= idCost + int64(len(id))
	}
	s.used -= costOfHead(e.head)
	s.count(ref.Org, -e.bytes())
	s.census.Note(ref, e.head, state.Head{})
	s.census.Settle()
	delete(s.states, ref)
}

// Shred implements state.Store. A state counts as one row, with all that it has.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayRemove(ctx); err != nil {
		return 0, err
	}
	for ref, e := range s.states {
		if ref.Org == org && removed < limit {
			s.drop(ref, e)
			removed++
		}
	}
	for i := range s.events {
		if e := &s.events[i]; e.Org == org && removed < limit {
			*e = e.Blank()
			removed++
		}
	}
	if removed == 0 {
		delete(s.chains, org)
	}
	return removed, nil
}

// PruneEvents implements state.Store. Rows stay, as sequences are places.
func (s *Store) PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int,
	event audit.Event) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayRemove(ctx); err != nil {
		return 0, err
	}
	var links []audit.Link
	for i := int(s.chains[org].Removed.Sequence); i < len(s.events) && len(links) < limit; i++ {
		if s.events[i].Org == org {
			links = append(links, audit.Link{Event: s.events[i], Place: s.links[i].place, Hash: s.links[i].hash})
		}
	}
	chain := s.chains[org]
	to, gone, err := chain.Prune(links, before)
	if err != nil || gone == 0 {
		return 0, err
	}
	for _, l := range links[:gone] {
		s.events[l.Sequence-1], s.links[l.Sequence-1] = l.Blank(), link{}
	}
	chain.Removed = to
	s.chains[org] = chain
	s.addEvent(to.Of(org, event))
	return gone, nil
}

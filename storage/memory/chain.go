package memory

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// link is what is kept of a chain beside an event.
type link struct {
	place uint64
	hash  audit.Hash
}

// chain adds the newest event to its organization's chain.
func (s *Store) chain(e audit.Event) {
	if e.Org == uuid.Nil {
		s.links = append(s.links, link{})
		return
	}
	c := s.chains[e.Org].Begun().Next(e)
	s.chains[e.Org] = c
	s.links = append(s.links, link{c.Place, c.Head.Hash})
}

// Chain implements state.Store.
func (s *Store) Chain(ctx context.Context, org uuid.UUID, from uint64, limit int) (audit.Chain, []audit.Link, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.mayList(ctx); err != nil {
		return audit.Chain{}, nil, err
	}
	c := s.chains[org]
	end := c.Head.Sequence
	if c.Place == 0 {
		end = uint64(len(s.events))
	}
	var links []audit.Link
	for at := max(from, 1); at <= end && len(links) < limit; at++ {
		if e := s.events[at-1]; e.Org == org {
			links = append(links, audit.Link{Event: e, Place: s.links[at-1].place, Hash: s.links[at-1].hash})
		}
	}
	return c, links, nil
}

package mysql

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// Append implements inventory.Store.
func (s *Store) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	server, err := s.begin()
	if err != nil {
		return inventory.Receipt{}, err
	}
	defer s.end()
	if err := server.check(&batch); err != nil {
		return inventory.Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return inventory.Receipt{}, err
	}
	e := &entry{ctx: ctx, batch: batch, done: make(chan struct{})}
	if s.queues.join(e) {
		s.spawn(func(context.Context) { s.serve(server, batch.Org) })
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		if s.queues.leave(e) {
			return inventory.Receipt{}, ctx.Err()
		}
		<-e.done // it is being recorded: the answer has to be the outcome
	}
	return e.receipt, e.err
}

// serve works off an organization's line until it is empty.
func (s *Store) serve(server *server, org uuid.UUID) {
	for group := s.queues.take(org); len(group) > 0; group = s.queues.take(org) {
		s.commit(server, org, group)
		for _, e := range group {
			close(e.done)
		}
	}
}

// check refuses what the database can't take; a rule of the service's must have failed, or
// the server is set up for less than an upload may have.
func (s *server) check(batch *inventory.Batch) error {
	if len(batch.Resources) == 0 || batch.ID == "" {
		return fault.New(fault.ParameterInvalid, "a batch has an ID and at least one resource")
	}
	for i := range batch.Resources {
		if n := len(batch.Resources[i].Attributes); n > s.valueBytes {
			return fault.New(fault.BodyTooLarge, "the attributes of resource %d have %d bytes, and the database takes %d (its max_allowed_packet)", i+1, n, s.valueBytes)
		}
	}
	if batch.At.IsZero() {
		return nil
	}
	batch.At = batch.At.UTC().Truncate(time.Microsecond)
	if year := batch.At.Year(); year < 1 || year > 9999 {
		return fault.New(fault.ParameterInvalid, "the timestamp's year %d is not between 1 and 9999", year)
	}
	return nil
}

package sqluploads

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/inventory"
)

// Append implements inventory.Store.
func (s *Store) Append(ctx context.Context, batch inventory.Batch) (_ inventory.Receipt, err error) {
	ctx, end := spans.Start(ctx, "append to the database")
	defer func() { end(err) }()
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
	s.join(server, e)
	s.await(e)
	return e.receipt, e.err
}

// AppendAll implements inventory.Store. It takes as many batches at a time as share a
// transaction.
func (s *Store) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	server, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer s.end()
	receipts := make([]inventory.Receipt, 0, len(batches))
	for some := range slices.Chunk(batches, groupBatches) {
		more, err := s.appendSome(ctx, server, some)
		receipts = append(receipts, more...)
		if err != nil {
			return receipts, err
		}
	}
	return receipts, nil
}

// appendSome appends batches of one organization, up to the first that is refused.
func (s *Store) appendSome(ctx context.Context, server *server,
	batches []inventory.Batch) ([]inventory.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var group []*entry
	var refused error
	for i := range batches {
		batch := batches[i]
		if refused = server.check(&batch); refused == nil && batch.Org != batches[0].Org {
			refused = fault.New(fault.ParameterInvalid, "the batches are of several organizations")
		}
		if refused != nil {
			break
		}
		e := &entry{ctx: ctx, batch: batch, done: make(chan struct{})}
		if i > 0 {
			e.before = group[i-1]
		}
		group = append(group, e)
	}
	if len(group) == 0 {
		return nil, refused
	}
	s.join(server, group...)
	var receipts []inventory.Receipt
	for _, e := range group {
		if s.await(e); e.err != nil {
			return receipts, e.err
		}
		receipts = append(receipts, e.receipt)
	}
	return receipts, refused
}

// join queues entries of one organization, and sees to it that somebody serves them.
func (s *Store) join(server *server, group ...*entry) {
	if s.queues.join(group...) {
		s.spawn(func(ctx context.Context) { s.serve(ctx, server, group[0].batch.Org) })
	}
}

// await returns when an entry has its answer, or has left its line because its context ended.
func (s *Store) await(e *entry) {
	select {
	case <-e.done:
	case <-e.ctx.Done():
		if s.queues.leave(e) {
			e.err = e.ctx.Err()
			return
		}
		<-e.done // it is being recorded: the answer has to be the outcome
	}
}

// serve works off an organization's line until it is empty, a group in each of its turns.
// Until the turn comes, entries join the line and leave it.
func (s *Store) serve(ctx context.Context, server *server, org uuid.UUID) {
	for s.queues.waits(org) {
		release, err := s.turns.Acquire(ctx, org)
		group := s.queues.next(org)
		if err != nil {
			fail(group, err)
		} else {
			s.commit(server, org, group)
			release()
		}
		for _, e := range group {
			close(e.done)
		}
	}
}

// check refuses what the database can't take; a rule of the service's must have failed, or
// the server is set up for less than an upload may have.
func (s *server) check(batch *inventory.Batch) error {
	if err := batch.Check(); err != nil {
		return err
	}
	for i := range batch.Resources {
		if n := len(batch.Resources[i].Attributes); n > s.valueBytes {
			return fault.New(fault.BodyTooLarge,
				"the attributes of resource %d have %d bytes, and the database takes %d (%s)", i+1, n, s.valueBytes, s.valueLimit)
		}
	}
	if !batch.At.IsZero() {
		batch.At = batch.At.UTC().Truncate(time.Microsecond)
	}
	return nil
}

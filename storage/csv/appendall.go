package csv

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast/holdfast/inventory"
)

// AppendAll implements inventory.Store. It takes as many batches at a time as share a write.
func (s *Store) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	if err := s.life.enter(); err != nil {
		return nil, err
	}
	defer s.life.leave()
	receipts := make([]inventory.Receipt, 0, len(batches))
	for some := range slices.Chunk(batches, groupCount) {
		more, err := s.appendSome(ctx, some)
		receipts = append(receipts, more...)
		if err != nil {
			return receipts, err
		}
	}
	return receipts, nil
}

// appendSome appends batches, up to the first that is refused.
func (s *Store) appendSome(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	group, refused := s.renderAll(batches)
	defer func() {
		for _, p := range group {
			s.buffers.release(p.rows)
		}
	}()
	if len(group) == 0 {
		return nil, refused
	}
	t := s.tenants.acquire(batches[0].Org)
	defer s.tenants.release(t)
	if err := t.enqueue(group...); err != nil {
		return nil, err
	}
	for _, p := range group { // of all, because their rows are in use until then
		t.await(ctx, p)
	}
	var receipts []inventory.Receipt
	for _, p := range group {
		if p.err != nil {
			return receipts, p.err
		}
		receipts = append(receipts, p.receipt)
	}
	return receipts, refused
}

// renderAll renders batches of one organization, up to the first that can't be.
func (s *Store) renderAll(batches []inventory.Batch) (group []*pending, err error) {
	for i, batch := range batches {
		if batch.Org != batches[0].Org {
			return group, errors.New("csv: batches of several organizations")
		}
		p, err := s.render(batch)
		if err != nil {
			return group, err
		}
		if i > 0 {
			p.before = group[i-1]
		}
		group = append(group, p)
	}
	return group, nil
}

// await returns when an upload has its answer. When ctx ends, it is taken back unless it
// has begun.
func (t *tenant) await(ctx context.Context, p *pending) {
	select {
	case <-p.done:
	case <-ctx.Done():
		t.withdraw(p, ctx.Err())
		<-p.done // if it has begun, what becomes of it is the answer
	}
}

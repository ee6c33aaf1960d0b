package csv

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// pending is an upload on its way.
type pending struct {
	batch  inventory.Batch // without its resources, which are in the rows
	rows   []byte          // with timestamps still to be set
	ends   []int           // offsets behind each row
	counts []count

	receipt inventory.Receipt
	err     error
	same    *pending // the upload of the same ID before it in its group
	before  *pending // the upload without which this one is not recorded; nil for none
	done    chan struct{}
}

// count is how many neighbours a group has.
type count struct {
	group index.Group
	n     int64
}

// Append implements inventory.Store.
func (s *Store) Append(ctx context.Context, batch inventory.Batch) (_ inventory.Receipt, err error) {
	ctx, end := spans.Start(ctx, "append to CSV")
	defer func() { end(err) }()
	if err := s.life.enter(); err != nil {
		return inventory.Receipt{}, err
	}
	defer s.life.leave()
	if err := ctx.Err(); err != nil {
		return inventory.Receipt{}, err
	}
	p, err := s.render(batch)
	if err != nil {
		return inventory.Receipt{}, err
	}
	defer func() { s.buffers.release(p.rows) }()
	t := s.tenants.acquire(batch.Org)
	defer s.tenants.release(t)
	if err := t.enqueue(p); err != nil {
		return inventory.Receipt{}, err
	}
	t.await(ctx, p)
	return p.receipt, p.err
}

// answer ends an upload with its receipt, or with its own error, or with its group's.
func (p *pending) answer(err error) {
	if p.err == nil && p.receipt.Count == 0 {
		p.err = err
	}
	if p.err != nil {
		p.receipt = inventory.Receipt{}
	}
	close(p.done)
}

// render makes the rows, in the caller's goroutine: all but the timestamps. That attributes
// are JSON objects is their Resource's promise: to scan them again took a third of its time.
func (s *Store) render(batch inventory.Batch) (*pending, error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	p := &pending{batch: batch, done: make(chan struct{})}
	p.batch.Resources = nil
	p.rows = s.buffers.acquire(estimate(batch))
	p.ends = make([]int, 0, len(batch.Resources))
	var encoder csvrow.Encoder
	for i, r := range batch.Resources {
		start := len(p.rows)
		p.rows = encoder.Append(p.rows, inventory.Record{Org: batch.Org, Resource: r})
		if len(p.rows)-start > csvrow.MaxRow {
			return nil, fault.New(fault.BodyTooLarge, "resource %d is larger than a row can be: %d bytes", i, csvrow.MaxRow)
		}
		p.ends = append(p.ends, len(p.rows))
		p.count(index.Group{Provider: r.Provider, Category: r.Category, ResourceType: r.ResourceType})
	}
	return p, nil
}

// count counts a resource.
func (p *pending) count(g index.Group) {
	if last := len(p.counts) - 1; last >= 0 && p.counts[last].group == g {
		p.counts[last].n++
		return
	}
	p.counts = append(p.counts, count{g, 1})
}

// estimate is about how many bytes the rows take.
func estimate(batch inventory.Batch) int {
	n := 0
	for _, r := range batch.Resources {
		n += 128 + len(r.Provider) + len(r.Category) + len(r.ResourceType) + len(r.ResourceName) + len(r.Attributes)*5/4
	}
	return n
}

// setTime writes the timestamp over the place that every row keeps for it.
func (p *pending) setTime(at time.Time) {
	text := at.Format(inventory.TimeLayout)
	start := 0
	for _, end := range p.ends {
		copy(p.rows[start:], text)
		start = end
	}
}

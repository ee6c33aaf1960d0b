package dual

import (
	"context"

	"github.com/holdfast/holdfast/inventory"
)

// ask looks for a batch that is older than the newest record: the sides know it or refuse it. It
// must not be recorded by one side alone, so one that would record it is not sent it: a side that
// is behind is left out, and one to which it is not old, because dead letters came after it, is
// asked for its ID only. If it is old to neither, it is recorded as any other.
func (s *Store) ask(ctx context.Context, l *lane, batch inventory.Batch) (inventory.Receipt, error) {
	var old, fresh names
	answers := outcomes{}
	for _, d := range s.sides {
		if l.owes(d.name) {
			continue
		}
		newest, err := s.newest(ctx, d, batch.Org)
		switch {
		case err != nil:
			answers[d.name] = outcome{err: err}
		case batch.At.Before(newest):
			old = old.with(d.name)
		case !s.lookUp(ctx, d, batch, answers):
			fresh = fresh.with(d.name)
		}
	}
	if fresh == both {
		return s.record(l, batch)
	}
	for n, o := range s.sendAll(old, []inventory.Batch{batch})[0] {
		answers[n] = o
	}
	if receipt, ok := answers.receipt(); ok {
		return receipt, nil
	}
	return inventory.Receipt{}, answers.doubt()
}

// lookUp adds what a side says that knows the batch's ID or can't be asked for it, and reports
// whether there is anything.
func (s *Store) lookUp(ctx context.Context, d *side, batch inventory.Batch, answers outcomes) bool {
	found, ok, err := s.rememberedAs(ctx, d, batch)
	if err != nil {
		answers[d.name] = outcome{err: err}
		return true
	}
	if ok {
		receipt, err := found.Again(batch)
		answers[d.name] = outcome{receipt, err}
	}
	return ok
}

// askTogether asks both sides for batches that are old to them, as ask does for one, and returns the
// receipts up to the first that no side knows. Without any they are to go alone, each to its own
// answer.
func (s *Store) askTogether(ctx context.Context, l *lane,
	batches []inventory.Batch) (receipts []inventory.Receipt, alone int) {
	if s.route(l) != both {
		return nil, len(batches)
	}
	old := batches
	for _, d := range s.sides {
		newest, err := s.newest(ctx, d, l.org)
		if err != nil {
			return nil, len(batches)
		}
		old = old[:leading(newest, old)]
	}
	if len(old) == 0 {
		return nil, len(batches)
	}
	for _, answers := range s.sendAll(both, old) {
		receipt, ok := answers.receipt()
		if !ok {
			break
		}
		receipts = append(receipts, receipt)
	}
	if len(receipts) == 0 {
		return nil, len(batches)
	}
	return receipts, 0
}

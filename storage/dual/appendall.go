package dual

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// shareMost is how many batches share a commit of the outbox and a call of each side.
const shareMost = 256

// AppendAll implements inventory.Store.
func (s *Store) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	receipts := make([]inventory.Receipt, 0, len(batches))
	for len(batches) > 0 {
		some := batches[:min(len(batches), shareMost)]
		more, alone, err := s.appendTogether(ctx, some)
		if err == nil && alone > 0 {
			more, err = inventory.AppendEach(ctx, s, some[:alone])
		}
		receipts = append(receipts, more...)
		if err != nil {
			return receipts, err
		}
		batches = batches[len(more):]
	}
	return receipts, nil
}

// appendTogether sends batches to both sides at once, in their order. It does so only in
// plain sailing: both sides are there and owed nothing, and the batches are an import's, newer
// than all there is. Else nothing was done, and so many of the first ones are to go alone: an
// import that goes on where one was interrupted begins with what is there.
func (s *Store) appendTogether(ctx context.Context,
	batches []inventory.Batch) (receipts []inventory.Receipt, alone int, err error) {
	if err := s.enter(); err != nil {
		return nil, 0, err
	}
	defer s.leave()
	l := s.lane(batches[0].Org)
	if err := l.take(ctx); err != nil {
		return nil, 0, err
	}
	defer l.give()
	if err := s.seed(ctx, l); err != nil {
		return nil, 0, err
	}
	if old := leading(l.last, batches); old > 0 {
		receipts, alone = s.askTogether(ctx, l, batches[:old])
		return receipts, alone, nil
	}
	if s.route(l) != both || !follow(l.last, batches) {
		return nil, len(batches), nil
	}
	rows, size := make([]row, len(batches)), int64(0)
	for i, batch := range batches {
		if rows[i], err = newRow(s.outbox.codec, batch, s.o.Now()); err != nil {
			return nil, 0, err
		}
		size += rows[i].size
	}
	if s.room(l, both, size) != nil {
		return nil, len(batches), nil // but perhaps for some of them
	}
	if err := s.outbox.put(rows...); err != nil {
		if fault.Is(err, fault.IdempotencyMismatch) {
			return nil, len(batches), nil // of one of them
		}
		return nil, 0, err
	}
	receipts, err = s.concludeAll(l, rows, s.sendAll(both, batches))
	return receipts, 0, err
}

// concludeAll gives the receipts of the batches up to the first that no side has recorded.
func (s *Store) concludeAll(l *lane, rows []row, all []outcomes) (receipts []inventory.Receipt, err error) {
	for i, r := range rows {
		receipt, failed := s.conclude(l, r, all[i])
		switch {
		case err != nil: // one before it has failed
		case failed != nil:
			err = failed
		default:
			receipts = append(receipts, receipt)
		}
	}
	return receipts, err
}

// leading counts the first batches that bring timestamps older than the newest one.
func leading(newest time.Time, batches []inventory.Batch) int {
	first := slices.IndexFunc(batches, func(b inventory.Batch) bool { return !plain(b) || !b.At.Before(newest) })
	if first < 0 {
		return len(batches)
	}
	return first
}

// plain reports whether a batch brings a timestamp that a store keeps as it is, and no ID that was
// a caller's choice.
func plain(b inventory.Batch) bool {
	return !b.At.IsZero() && b.At == b.At.UTC().Truncate(time.Microsecond) && !b.Keyed()
}

// follow reports whether the batches bring timestamps that follow each other and the newest
// one, IDs that differ and were no caller's choice, and the same organization.
func follow(newest time.Time, batches []inventory.Batch) bool {
	ids := map[string]bool{}
	for _, b := range batches {
		if !plain(b) || b.At.Before(newest) || ids[b.ID] || b.Org != batches[0].Org {
			return false
		}
		newest, ids[b.ID] = b.At, true
	}
	return true
}

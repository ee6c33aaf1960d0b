package inventorytest_test

import (
	"context"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// countsReplays counts a batch each time that it comes.
type countsReplays struct {
	inventory.Store
	more atomic.Int64
}

func (s *countsReplays) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	receipt, err := s.Store.Append(ctx, batch)
	if err == nil && receipt.Replayed {
		s.more.Add(batch.Bytes())
	}
	return receipt, err
}

func (s *countsReplays) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	used, err := s.Store.Usage(ctx, org)
	return used + s.more.Load(), err
}

// asksForReplays asks before it looks whether the batch is there.
func asksForReplays(next inventory.Store) inventory.Store {
	return bent{Store: next,
		append: func(append appender, ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
			used, err := next.Usage(ctx, batch.Org)
			if err == nil {
				err = batch.MayAdd(used, batch.Bytes())
			}
			if err != nil {
				return inventory.Receipt{}, err
			}
			batch.Allow = nil
			return append(ctx, batch)
		}}
}

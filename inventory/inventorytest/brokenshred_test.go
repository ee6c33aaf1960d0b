package inventorytest_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

type shredsUploads struct {
	inventory.Store
	shred func(next inventory.Store, ctx context.Context, org uuid.UUID, limit int) (int, error)
}

func (s shredsUploads) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	return s.shred(s.Store, ctx, org, limit)
}

func keepsUploads(next inventory.Store) inventory.Store {
	return shredsUploads{next, func(inventory.Store, context.Context, uuid.UUID, int) (int, error) { return 0, nil }}
}

func shredsAllUploads(next inventory.Store) inventory.Store {
	return shredsUploads{next,
		func(next inventory.Store, ctx context.Context, _ uuid.UUID, limit int) (removed int, err error) {
			for org, err := range next.Organizations(ctx) {
				if err != nil {
					return removed, err
				}
				n, err := next.Shred(ctx, org, limit)
				if removed += n; err != nil {
					return removed, err
				}
			}
			return removed, nil
		}}
}

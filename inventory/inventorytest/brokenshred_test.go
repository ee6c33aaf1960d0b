package inventorytest_test

import (
	"context"
	"time"

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

type expiresUploads struct {
	inventory.Store
	expire func(next inventory.Store, ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error)
}

func (s expiresUploads) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error) {
	return s.expire(s.Store, ctx, org, before, limit)
}

func keepsOldUploads(next inventory.Store) inventory.Store {
	return expiresUploads{next,
		func(inventory.Store, context.Context, uuid.UUID, time.Time, int) (int, error) { return 0, nil }}
}

func expiresTooSoon(next inventory.Store) inventory.Store {
	return expiresUploads{next,
		func(next inventory.Store, ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error) {
			return next.Expire(ctx, org, before.Add(time.Microsecond), limit)
		}}
}

// expiresByShredding forgets the IDs and the newest timestamp.
func expiresByShredding(next inventory.Store) inventory.Store {
	return expiresUploads{next,
		func(next inventory.Store, ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error) {
			removed, err := next.Expire(ctx, org, before, limit)
			if err == nil && removed == 0 {
				if groups, _ := next.Summary(ctx, org); len(groups) == 0 {
					_, err = next.Shred(ctx, org, limit)
				}
			}
			return removed, err
		}}
}

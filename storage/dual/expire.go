package dual

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Expire implements inventory.Store. CSV removes all that is old at once, and the other side follows as far. One that
// is away keeps the other from nothing: the error names it, and a later call goes on, and counts what it removes then.
// Old records that the outbox owes go to the side first, and are removed there by the call after that.
func (s *Store) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	var errs []error
	for _, d := range s.sides {
		n, err := d.expire(ctx, org, before, limit, removed)
		removed = max(removed, n)
		if err != nil {
			errs = append(errs, fmt.Errorf("old uploads of the side %s: %w", d.label, err))
		}
	}
	return removed, errors.Join(errs...)
}

// expire removes a piece, and on until so many records are gone that the other side has removed.
func (d *side) expire(ctx context.Context, org uuid.UUID, before time.Time,
	limit, others int) (removed int, err error) {
	for {
		n, err := d.store.Expire(ctx, org, before, limit)
		if removed += n; err != nil || n == 0 || removed >= others {
			return removed, err
		}
	}
}

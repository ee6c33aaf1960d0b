package dual

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
)

const (
	shredPause = 20 * time.Millisecond // how often Shred looks whether those who replay have left
	shredRows  = 4                     // how many batches one transaction removes: each may have some megabytes
)

// Shred implements inventory.Store. What the outbox keeps goes first, so that nothing is delivered any more; then each
// side destroys what it has. While a side is down that can't be finished, and the error says so.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	l := s.lane(org)
	if err := l.take(ctx); err != nil {
		return 0, err
	}
	defer l.give()
	if removed, err = s.outbox.shred(org, min(limit, shredRows)); err != nil || removed > 0 {
		return removed, err
	}
	if err := s.forgive(ctx, l); err != nil {
		return 0, err
	}
	var errs []error
	for _, d := range s.sides {
		n, err := d.store.Shred(ctx, org, limit)
		removed, errs = removed+n, append(errs, err)
	}
	if err := errors.Join(errs...); err != nil || removed > 0 {
		return removed, err
	}
	return 0, s.outbox.scrub(ctx)
}

// forgive takes off what the sides are owed, and returns when nobody replays any more. It needs the lane's turn.
func (s *Store) forgive(ctx context.Context, l *lane) error {
	for _, d := range s.sides {
		l.mu.Lock()
		queue := slices.Clone(l.queues[d.name])
		l.mu.Unlock()
		for _, owed := range queue {
			s.cancel(d, l, owed)
		}
	}
	l.last, l.seeded = time.Time{}, false
	for l.isReplaying() {
		l.nudge()
		select {
		case <-time.After(shredPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

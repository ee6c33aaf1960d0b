package dual

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// shredPause is how often Shred looks whether those who pay debts have left.
const shredPause = 20 * time.Millisecond

// Shred implements inventory.Store. What the outbox keeps goes first, with all debts and dead
// letters, so that nothing is delivered any more; then each side destroys what it has. While a side
// is down that can't be finished, and the error says so.
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
	if removed, err = s.outbox.shred(org, limit); err != nil || removed > 0 {
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

// forgive strikes out what the sides are owed, and returns when nobody pays any more. It needs the
// lane's turn.
func (s *Store) forgive(ctx context.Context, l *lane) error {
	l.deciding.Lock()
	for _, d := range s.sides {
		for next, ok := l.oldest(d.name); ok; next, ok = l.oldest(d.name) {
			s.cancel(d, l, next)
		}
		s.forgetDead(l, d)
	}
	l.deciding.Unlock()
	l.last, l.seeded = time.Time{}, false
	for l.isPaying() {
		l.nudge()
		select {
		case <-time.After(shredPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// forgetDead takes an organization's dead letters off what is counted of a side.
func (s *Store) forgetDead(l *lane, d *side) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dead := l.dead[d.name]
	s.heldBytes.Add(-dead.bytes)
	d.dead.Add(-dead.batches)
	l.dead[d.name], l.discarded[d.name] = tally{}, 0
}

// oldest returns the debt that is paid next.
func (l *lane) oldest(n name) (debt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queues[n]) == 0 {
		return debt{}, false
	}
	return l.queues[n][0], true
}

func (l *lane) isPaying() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paying[csv] || l.paying[mysql]
}

// shred removes a piece of what the outbox keeps of an organization.
func (o *outbox) shred(org uuid.UUID, limit int) (removed int, err error) {
	err = o.do(org, func(t tx) error {
		removed = 0
		for _, text := range []string{
			"DELETE FROM batches WHERE seq IN (SELECT seq FROM batches WHERE org = ?1 LIMIT ?2)",
			"DELETE FROM dead_letters WHERE number IN (SELECT number FROM dead_letters WHERE org = ?1 LIMIT ?2)",
			"DELETE FROM discarded WHERE org = ?1 AND refused IN (SELECT refused FROM discarded WHERE org = ?1 LIMIT ?2)",
		} {
			result, err := t.Exec(text, org.String(), min(limit, shredRows))
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if removed = int(n); err != nil || n > 0 {
				return err
			}
		}
		return nil
	})
	if removed > 0 {
		o.dirt.Add()
	}
	return removed, err
}

// shredRows is how many batches one transaction removes: each may have some megabytes.
const shredRows = 4

// scrub cuts the WAL off. What was deleted in the database itself is overwritten already, and the
// pages that it took are given back to the file system.
func (o *outbox) scrub(ctx context.Context) error {
	return o.dirt.Clear(func() error { return storeError(o.writer.EmptyLog(ctx, uuid.Nil)) })
}

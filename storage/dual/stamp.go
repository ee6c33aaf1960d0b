package dual

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// stamp returns the timestamp of the next batch. It is later than any before, by which a
// side's records can be told apart.
func (s *Store) stamp(l *lane) time.Time { return inventory.Stamp(s.o.Now(), l.last) }

// seed finds the newest timestamp that the sides have. What a side that is away may have
// beyond the other, the outbox has as well.
func (s *Store) seed(ctx context.Context, l *lane) error {
	if l.seeded {
		return nil
	}
	var failure error
	answers := 0
	for _, d := range s.sides {
		if d.isSlow() && !s.other(d).isSlow() {
			continue
		}
		began := time.Now()
		at, err := s.newest(ctx, d, l.org)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			d.learn(outcome{err: err}, time.Since(began))
			failure = err
			continue
		}
		answers++
		l.last = later(l.last, at)
	}
	if answers == 0 {
		return errBothDown(failure)
	}
	l.seeded = true
	return nil
}

// newest returns the timestamp of the organization's newest record on a side.
func (s *Store) newest(ctx context.Context, d *side, org uuid.UUID) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.SideTimeout)
	defer cancel()
	for record, err := range d.store.Records(ctx, org, inventory.Query{Order: inventory.Descending}) {
		return record.Timestamp, err
	}
	return time.Time{}, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

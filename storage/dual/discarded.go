package dual

import (
	"context"
	"time"

	"github.com/google/uuid"
)

const (
	sqlDiscarded = `SELECT org, refused, records, newest FROM discarded`
	sqlDiscard   = `INSERT INTO discarded (org, refused, records, newest) VALUES (?, ?, ?, ?) ON CONFLICT (org, refused)
		DO UPDATE SET records = records + excluded.records, newest = max(newest, excluded.newest)`
)

// discarded is what is left of dead letters that were given up. Without it the sides would
// seem to differ ever after.
type discarded struct {
	org     uuid.UUID
	side    name
	records int64
	newest  time.Time
}

// discardLetter removes a dead letter for good, and keeps how much the side lacks by that.
func (o *outbox) discardLetter(l DeadLetter) error {
	return o.do(l.Org, func(t tx) error {
		refused := names(0).with(l.side)
		if _, err := t.Exec(sqlDiscard, l.Org.String(), int64(refused), l.Records, l.At.UnixMicro()); err != nil {
			return err
		}
		_, err := t.Exec(sqlRemoveLetter, l.Number)
		return err
	})
}

// resumeDiscarded takes in what was given up before.
func (s *Store) resumeDiscarded(ctx context.Context) error {
	all, err := list(ctx, s.outbox, scanDiscarded, sqlDiscarded)
	if err != nil {
		return err
	}
	for _, d := range all {
		l := s.lane(d.org)
		l.last = later(l.last, d.newest)
		l.discard(d.side, d.records)
	}
	return nil
}

func (l *lane) discard(n name, records int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.discarded[n] += records
}

func scanDiscarded(from scanner) (d discarded, err error) {
	var org string
	var refused, newest int64
	if err := from.Scan(&org, &refused, &d.records, &newest); err != nil {
		return d, err
	}
	if names(refused).has(mysql) {
		d.side = mysql
	}
	d.newest = time.UnixMicro(newest).UTC()
	d.org, err = uuid.Parse(org)
	return d, err
}

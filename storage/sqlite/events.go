package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const sqlFeed = `SELECT ` + stateengine.EventColumns + ` FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?`

// recordEvent adds one event. Its time is at least that of the one before, whatever the
// clock does.
func (t *session) recordEvent(e audit.Event) error {
	if err := t.loadNewest(); err != nil {
		return err
	}
	t.newest = max(t.newest, e.At.UnixMicro())
	e.At = stateengine.FromMicros(t.newest)
	t.last++
	e.Sequence = uint64(t.last)
	place, hash, err := t.link(e)
	if err == nil {
		err = t.exec(t.addEvent, append(stateengine.EventValues(e), t.last, place, hash)...)
	}
	if err == nil && t.last%t.listEvery == 0 {
		err = t.exec(t.listEvents, t.last-t.listEvery)
	}
	return err
}

func (t *session) loadNewest() error {
	if t.newest != 0 {
		return nil
	}
	err := t.lastEvent.QueryRowContext(context.Background()).Scan(&t.last, &t.newest)
	if errors.Is(err, sql.ErrNoRows) {
		t.last, t.newest, err = 0, math.MinInt64, nil
	}
	return err
}

// Record implements state.Store.
func (s *Store) Record(ctx context.Context, event audit.Event) error {
	return s.write(ctx, event.Org, func(t *session) error { return t.recordEvent(event) })
}

// Feed implements state.Store.
func (s *Store) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	return list(ctx, s, server(), sqlFeed, []any{stateengine.Key(after), limit}, stateengine.ScanEvent)
}

package states

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlFeed    = `SELECT ` + stateengine.EventColumns + ` FROM state_events WHERE sequence > ? ORDER BY sequence LIMIT ?`
	sqlEventAt = `SELECT at FROM state_events WHERE sequence >= ? ORDER BY sequence LIMIT 1`
	sqlLast    = `SELECT coalesce(MAX(sequence), 0) FROM state_events`
	inSpan     = ` AND sequence >= ? AND sequence < ?`
)

// Feed implements state.Store.
func (s *Store) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	if err := s.inLog(ctx); err != nil {
		return nil, err
	}
	return collect(ctx, s, uuid.Nil, stateengine.ScanEvent, sqlFeed, stateengine.Key(after), limit)
}

// inLog is moved for a call that is not let in yet.
func (s *Store) inLog(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.explain(ctx, s.moved(ctx))
}

// Events implements state.Store. Times only grow along the log, so that a span of time is
// a range of sequences.
func (s *Store) Events(ctx context.Context, org uuid.UUID, q audit.Query) (page audit.Page, err error) {
	if err := s.inLog(ctx); err != nil {
		return audit.Page{}, err
	}
	err = s.list(ctx, org, func(ctx context.Context, db querier) error {
		from, to, err := stateengine.Span(ctx, eventLog{db}, q)
		if err == nil {
			page, err = stateengine.Events(ctx, eventsOf(s.sql, db, org, q), from, to, q.Limit, s.looks)
		}
		return err
	})
	return page, err
}

// eventLog is a stateengine.Log.
type eventLog struct{ db querier }

// Last implements stateengine.Log.
func (l eventLog) Last(ctx context.Context) (last int64, err error) {
	last, _, err = lastOf[int64](ctx, l.db, sqlLast)
	return last, err
}

// At implements stateengine.Log.
func (l eventLog) At(ctx context.Context, sequence int64) (micros int64, err error) {
	err = l.db.QueryRowContext(ctx, sqlEventAt, sequence).Scan(&micros)
	return micros, err
}

// eventList is a stateengine.EventList of an index.
type eventList struct {
	db         querier
	from       string // the table with its index, and what its entries have in common
	args       []any
	filters    string // those that say which of them
	filterArgs []any
}

// eventsOf chooses the list that leaves out most.
func eventsOf(in dialect, db querier, org uuid.UUID, q audit.Query) eventList {
	l := eventList{db: db, args: []any{org.String()}}
	switch {
	case q.State != "":
		l.from = ` FROM state_events` + in.index("states") + ` WHERE org = ? AND state = ?`
		l.args = append(l.args, q.State)
	case q.Action != "":
		l.from = ` FROM state_events` + in.index("actions") + ` WHERE org = ? AND action = ?`
		l.args = append(l.args, string(q.Action))
	default:
		l.from = ` FROM state_events` + in.index("orgs") + ` WHERE org = ?`
	}
	if q.KeyID != "" {
		l.filters, l.filterArgs = l.filters+" AND key_id = ?", append(l.filterArgs, q.KeyID)
	}
	if q.Action != "" && q.State != "" {
		l.filters, l.filterArgs = l.filters+" AND action = ?", append(l.filterArgs, string(q.Action))
	}
	return l
}

// Filtered implements stateengine.EventList.
func (l eventList) Filtered() bool { return l.filters != "" }

// Last implements stateengine.EventList.
func (l eventList) Last(ctx context.Context, from, to int64, entries int) (low int64, found bool, err error) {
	return lastOf[int64](ctx, l.db, `SELECT sequence`+l.from+inSpan+` ORDER BY sequence DESC LIMIT 1 OFFSET ?`,
		append(append([]any{}, l.args...), from, to, entries-1)...)
}

// Rows implements stateengine.EventList.
func (l eventList) Rows(ctx context.Context, low, high int64, limit int, add func(audit.Event) bool) error {
	args := append(append(append([]any{}, l.args...), low, high), l.filterArgs...)
	return each(ctx, l.db, stateengine.ScanEvent, add,
		`SELECT `+stateengine.EventColumns+l.from+inSpan+l.filters+` ORDER BY sequence DESC LIMIT ?`, append(args, limit)...)
}

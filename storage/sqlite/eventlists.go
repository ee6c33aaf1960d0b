package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// unlisted is how many events, the log's last, may be in no list of their organization or
// state yet: a list has pages of its own, which each event would change for itself. To list
// so many at once saves 65 of the 350 µs of CPU that LOCK, POST and UNLOCK of 10 KB take
// here, for 16 states; twice as many save no more, and take 4 ms in one piece. It may grow,
// but never shrink: what is there must be found again.
const unlisted = 512

// Events implements state.Store. Times only grow along the log, so that a span of time is
// a range of sequences.
func (s *Store) Events(ctx context.Context, org uuid.UUID, q audit.Query) (page audit.Page, err error) {
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		from, to, err := stateengine.Span(ctx, r, q)
		if err == nil {
			page, err = stateengine.Events(ctx, eventsOf{r, listFor(org, q)}, from, to, q.Limit, s.looks)
		}
		return err
	})
	return page, err
}

// Last implements stateengine.Log.
func (r *reader) Last(ctx context.Context) (last int64, err error) {
	err = r.lastSequence.QueryRowContext(ctx).Scan(&last)
	return last, err
}

// At implements stateengine.Log.
func (r *reader) At(ctx context.Context, sequence int64) (micros int64, err error) {
	err = r.eventAt.QueryRowContext(ctx, sequence).Scan(&micros)
	return micros, err
}

// eventsOf is a stateengine.EventList.
type eventsOf struct {
	r  *reader
	of eventList
}

// Filtered implements stateengine.EventList.
func (l eventsOf) Filtered() bool { return l.of.filters != "" }

// Last implements stateengine.EventList.
func (l eventsOf) Last(ctx context.Context, from, to int64, entries int) (low int64, found bool, err error) {
	query, args := l.of.stretch(from, to, entries)
	err = l.r.conn.QueryRowContext(ctx, query, args...).Scan(&low)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return low, err == nil, err
}

// Rows implements stateengine.EventList.
func (l eventsOf) Rows(ctx context.Context, low, high int64, limit int, add func(audit.Event) bool) error {
	query, args := l.of.rows(low, high, limit)
	return each(ctx, l.r, query, args, stateengine.ScanEvent, add)
}

// eventList is a list of events in an index of its own, and what of it is asked for.
type eventList struct {
	index    string // with what its entries have in common, beside the organization
	unlisted bool   // the log's last events may not be in it yet
	entries  string // conditions that say which entries
	filters  string // and those that say which of them
	args     []any
}

// listFor chooses the list that leaves out most.
func listFor(org uuid.UUID, q audit.Query) eventList {
	l := eventList{index: inOrg, unlisted: true, entries: " AND org = ?1",
		args: []any{org.String(), nil, nil, nil, unlisted}}
	rare := q.Action != "" && !slices.Contains(frequent(), q.Action)
	switch {
	case q.State != "":
		l.index = inState
		l.add(&l.entries, "state", q.State)
	case rare:
		l.index, l.unlisted = inRare, false
		l.add(&l.entries, "action", string(q.Action))
	}
	if q.KeyID != "" {
		l.add(&l.filters, "key_id", q.KeyID)
	}
	if q.Action != "" && l.index != inRare {
		l.add(&l.filters, "action", string(q.Action))
	}
	return l
}

func (l *eventList) add(to *string, column string, value any) {
	l.args = append(l.args, value)
	*to += " AND " + column + " = ?" + strconv.Itoa(len(l.args))
}

// rows asks for the events from low to below high that pass the filters. What is unlisted it
// looks through: that is bounded, and newer than all that is listed.
func (l eventList) rows(low, high int64, limit int) (string, []any) {
	where := l.entries + l.filters
	query := `SELECT ` + stateengine.EventColumns + ` FROM events ` + l.index + span + where
	if l.unlisted {
		query = sqlUnlisted + where + ` UNION ALL ` + query
	}
	return query + ` ORDER BY sequence DESC LIMIT ?4`, l.within(low, high, limit)
}

// links asks for the events of the list from low to below high with what is kept of their chain, the
// oldest first.
func (l eventList) links(low, high int64, limit int) (string, []any) {
	query := sqlUnlistedLinks + l.entries + ` UNION ALL
		SELECT ` + stateengine.LinkColumns + ` FROM events ` + l.index + span + l.entries
	return query + ` ORDER BY sequence LIMIT ?4`, l.within(low, high, limit)
}

// stretch asks for the sequence of the last one of so many entries.
func (l eventList) stretch(low, high int64, entries int) (string, []any) {
	query := `SELECT sequence FROM events ` + l.index + span + l.entries + ` ORDER BY sequence DESC LIMIT 1 OFFSET ?4 - 1`
	return query, l.within(low, high, entries)
}

func (l eventList) within(low, high int64, limit int) []any {
	args := slices.Clone(l.args)
	args[1], args[2], args[3] = low, high, limit
	return args
}

// The indexes are named, because SQLite takes the one on org for good enough whatever else is
// asked.
const (
	span = ` AND sequence >= ?2 AND sequence < ?3`

	sqlUnlisted      = `SELECT ` + stateengine.EventColumns + notListed
	sqlUnlistedLinks = `SELECT ` + stateengine.LinkColumns + notListed
	notListed        = ` FROM events NOT INDEXED
		WHERE listed = 0 AND sequence < ?3 AND sequence >= max(?2, (SELECT max(sequence) FROM events) - ?5)`

	inOrg   = `INDEXED BY events_org WHERE listed = 1`
	inState = `INDEXED BY events_state WHERE listed = 1`

	// The index events_rare leaves out the actions that nearly all events have, so that no
	// lock and no write pays for it; so it has its events from the start.
	inRare = `INDEXED BY events_rare WHERE action NOT IN ('state.write', 'lock.take', 'lock.release')`
)

func frequent() []audit.Action {
	return []audit.Action{audit.StateWrite, audit.LockTake, audit.LockRelease}
}

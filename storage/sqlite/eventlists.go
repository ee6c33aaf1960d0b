package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
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
		from, to, err := r.span(ctx, q)
		if err == nil {
			page, err = s.events(ctx, r, listFor(org, q), from, to, q.Limit)
		}
		return err
	})
	return page, err
}

// events goes down the log from stretch to stretch of the list's entries, each longer than
// the one before: where most pass the filters, the first will do.
func (s *Store) events(ctx context.Context, r *reader, l eventList, from, to int64, limit int) (page audit.Page, err error) {
	at := uint64(0) // all from here on was looked at; 0 before anything was
	add := func(e audit.Event) bool {
		page.Events, at = append(page.Events, e), e.Sequence
		return true
	}
	for looked, stretch := 0, limit; ; stretch = min(4*stretch, s.looks-looked) {
		low, more, err := r.startOfStretch(ctx, l, from, to, stretch)
		if err == nil {
			query, args := l.rows(low, to, limit-len(page.Events))
			err = each(ctx, r, query, args, scanEvent, add)
		}
		looked += stretch
		switch {
		case err != nil && (ctx.Err() == nil || at == 0):
			return audit.Page{}, err
		case err != nil, len(page.Events) == limit: // or the time is up
			page.Next = at
			return page, nil
		case !more:
			return page, nil
		}
		if at, to = uint64(low), low; looked >= s.looks {
			page.Next = at
			return page, nil
		}
	}
}

// startOfStretch returns the sequence of the last one of so many entries of the list, from
// the newest on: that is from where there are fewer, or where all that the list has passes
// the filters. It takes the list's index alone.
func (r *reader) startOfStretch(ctx context.Context, l eventList, from, to int64, entries int) (low int64, more bool, err error) {
	if l.filters == "" {
		return from, false, nil
	}
	query, args := l.stretch(from, to, entries)
	err = r.conn.QueryRowContext(ctx, query, args...).Scan(&low)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return from, false, nil
	case err != nil:
		return 0, false, err
	}
	return low, true, nil
}

// span returns the range of sequences, from inclusive and to exclusive, that Since, Until
// and Before leave.
func (r *reader) span(ctx context.Context, q audit.Query) (from, to int64, err error) {
	if to = math.MaxInt64; q.Before > 0 {
		to = key(q.Before)
	}
	if !q.Since.IsZero() {
		if from, err = r.sequenceAt(ctx, q.Since); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		until, err := r.sequenceAt(ctx, q.Until)
		if err != nil {
			return 0, 0, err
		}
		to = min(to, until)
	}
	return from, to, nil
}

// sequenceAt finds the first event that is not before t, by halving the log. Without one
// it is the sequence that the next event gets, or one above.
func (r *reader) sequenceAt(ctx context.Context, t time.Time) (int64, error) {
	var last int64
	if err := r.lastSequence.QueryRowContext(ctx).Scan(&last); err != nil {
		return 0, err
	}
	low, high, micros := int64(1), last+1, ceilMicros(t)
	for low < high {
		middle := low + (high-low)/2
		var at int64
		if err := r.eventAt.QueryRowContext(ctx, middle).Scan(&at); err != nil {
			return 0, err
		}
		if at < micros {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
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
	l := eventList{index: inOrg, unlisted: true, entries: " AND org = ?1", args: []any{org.String(), nil, nil, nil, unlisted}}
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
		l.add(&l.filters, "key", q.KeyID)
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
	query := `SELECT ` + eventColumns + ` FROM events ` + l.index + span + where
	if l.unlisted {
		query = sqlUnlisted + where + ` UNION ALL ` + query
	}
	return query + ` ORDER BY sequence DESC LIMIT ?4`, l.within(low, high, limit)
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

	sqlUnlisted = `SELECT ` + eventColumns + ` FROM events NOT INDEXED
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

// ceilMicros is the first time as the database keeps them that is not before t.
func ceilMicros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

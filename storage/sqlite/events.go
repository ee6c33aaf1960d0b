package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

const eventColumns = `sequence, at, org, action, state, version, lock_id, refused, reason, note, key, key_name,
	subject, role, address, request`

const sqlFeed = `SELECT ` + eventColumns + ` FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?`

// recordEvents adds the change's events to the audit log.
func (t *session) recordEvents(ref state.Ref, change state.Change) error {
	for _, event := range change.Events {
		event.At, event.Org, event.State = change.At, ref.Org, string(ref.Name)
		if err := t.recordEvent(event); err != nil {
			return err
		}
	}
	return nil
}

// recordEvent adds one event. Its time is at least that of the one before, whatever the
// clock does.
func (t *session) recordEvent(e audit.Event) error {
	if err := t.loadNewest(); err != nil {
		return err
	}
	t.newest = max(t.newest, e.At.UnixMicro())
	a := e.Actor
	return t.exec(t.addEvent, t.newest, e.Org.String(), string(e.Action), e.State, int64(e.Version), e.LockID, string(e.Refused),
		e.Reason, e.Note, a.KeyID, a.KeyName, a.Subject, string(a.Role), a.Address, a.Request)
}

func (t *session) loadNewest() error {
	if t.newest != 0 {
		return nil
	}
	err := t.lastEvent.QueryRowContext(context.Background()).Scan(&t.newest)
	if errors.Is(err, sql.ErrNoRows) {
		t.newest, err = math.MinInt64, nil
	}
	return err
}

// Record implements state.Store.
func (s *Store) Record(ctx context.Context, event audit.Event) error {
	return s.write(ctx, func(t *session) error { return t.recordEvent(event) })
}

// Feed implements state.Store.
func (s *Store) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	return list(ctx, s, sqlFeed, []any{key(after), limit}, scanEvent)
}

// Events implements state.Store. Times only grow along the log, so that a span of time is
// a range of sequences.
func (s *Store) Events(ctx context.Context, org uuid.UUID, q audit.Query) (events []audit.Event, err error) {
	err = s.read(ctx, func(r *reader) error {
		from, to, err := r.span(q)
		if err != nil {
			return err
		}
		query, args := eventsQuery(org, q, from, to)
		events, err = collect(r, query, args, scanEvent)
		return err
	})
	return events, err
}

// span returns the range of sequences, from inclusive and to exclusive, that Since, Until
// and Before leave.
func (r *reader) span(q audit.Query) (from, to int64, err error) {
	if to = math.MaxInt64; q.Before > 0 {
		to = key(q.Before)
	}
	if !q.Since.IsZero() {
		if from, err = r.sequenceAt(q.Since); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		until, err := r.sequenceAt(q.Until)
		if err != nil {
			return 0, 0, err
		}
		to = min(to, until)
	}
	return from, to, nil
}

// sequenceAt finds the first event that is not before t, by halving the log. Without one
// it is the sequence that the next event gets, or one above.
func (r *reader) sequenceAt(t time.Time) (int64, error) {
	var last int64
	if err := r.lastSequence.QueryRowContext(context.Background()).Scan(&last); err != nil {
		return 0, err
	}
	low, high, micros := int64(1), last+1, ceilMicros(t)
	for low < high {
		middle := low + (high-low)/2
		var at int64
		if err := r.eventAt.QueryRowContext(context.Background(), middle).Scan(&at); err != nil {
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

func eventsQuery(org uuid.UUID, q audit.Query, from, to int64) (string, []any) {
	where, args := []string{"org = ?", "sequence >= ?", "sequence < ?"}, []any{org.String(), from, to}
	add := func(set bool, condition string, value any) {
		if set {
			where, args = append(where, condition), append(args, value)
		}
	}
	add(q.State != "", "state = ?", q.State)
	add(q.KeyID != "", "key = ?", q.KeyID)
	add(q.Action != "", "action = ?", string(q.Action))
	// Named, because SQLite takes the index on org for good enough whatever else is asked.
	index := "events_org"
	switch {
	case q.State != "":
		index = "events_state"
	case q.Action != "" && !slices.Contains(frequent(), q.Action):
		index, where = "events_rare", append(where, rare)
	}
	return `SELECT ` + eventColumns + ` FROM events INDEXED BY ` + index + ` WHERE ` + strings.Join(where, " AND ") + ` ORDER BY sequence DESC LIMIT ?`, append(args, q.Limit)
}

// The index events_rare leaves out the actions that nearly all events have, so that no
// lock and no write pays for it. rare is its condition, to the letter.
const rare = "action NOT IN ('state.write', 'lock.take', 'lock.release')"

func frequent() []audit.Action {
	return []audit.Action{audit.StateWrite, audit.LockTake, audit.LockRelease}
}

// ceilMicros is the first time as the database keeps them that is not before t.
func ceilMicros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

// key is a number as the database compares it: what no row can have stays above them all.
func key(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func scanEvent(scan scan) (audit.Event, error) {
	var e audit.Event
	var sequence, at, version int64
	var org string
	a := &e.Actor
	err := scan(&sequence, &at, &org, &e.Action, &e.State, &version, &e.LockID, &e.Refused, &e.Reason, &e.Note,
		&a.KeyID, &a.KeyName, &a.Subject, &a.Role, &a.Address, &a.Request)
	if err != nil {
		return audit.Event{}, err
	}
	e.Sequence, e.At, e.Version = uint64(sequence), fromMicros(at), uint64(version)
	e.Org, err = uuid.Parse(org)
	return e, err
}

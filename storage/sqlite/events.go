package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

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
	e.At = fromMicros(t.newest)
	a := e.Actor
	sequence, err := t.insert(t.addEvent, t.newest, e.Org.String(), string(e.Action), e.State, int64(e.Version), e.LockID, string(e.Refused),
		e.Reason, e.Note, a.KeyID, a.KeyName, a.Subject, string(a.Role), a.Address, a.Request)
	if err == nil && sequence%t.listEvery == 0 {
		err = t.exec(t.listEvents, sequence-t.listEvery)
	}
	e.Sequence = uint64(sequence)
	t.recorded = append(t.recorded, e)
	return err
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
	return s.write(ctx, event.Org, func(t *session) error { return t.recordEvent(event) })
}

// Feed implements state.Store.
func (s *Store) Feed(ctx context.Context, after uint64, limit int) (events []audit.Event, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	events = s.session.latest.after(after, limit)
	s.leave()
	if events != nil {
		return events, nil
	}
	return list(ctx, s, server(), sqlFeed, []any{key(after), limit}, scanEvent)
}

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

package sqlite

import (
	"context"
	"database/sql"
	"errors"
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
	var last int64
	err := t.lastEvent.QueryRowContext(context.Background()).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	at := e.At.UnixMicro()
	if err == nil {
		at = max(at, last)
	}
	a := e.Actor
	return t.exec(t.addEvent, at, e.Org.String(), string(e.Action), e.State, int64(e.Version), e.LockID, string(e.Refused),
		e.Reason, e.Note, a.KeyID, a.KeyName, a.Subject, string(a.Role), a.Address, a.Request)
}

// Record implements state.Store.
func (s *Store) Record(ctx context.Context, event audit.Event) error {
	return s.write(ctx, func(t *session) error { return t.recordEvent(event) })
}

// Feed implements state.Store.
func (s *Store) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	return list(ctx, s, sqlFeed, []any{int64(after), limit}, scanEvent)
}

// Events implements state.Store.
func (s *Store) Events(ctx context.Context, org uuid.UUID, q audit.Query) ([]audit.Event, error) {
	where, args := []string{"org = ?"}, []any{org.String()}
	add := func(set bool, condition string, value any) {
		if set {
			where, args = append(where, condition), append(args, value)
		}
	}
	add(q.State != "", "state = ?", q.State)
	add(q.Action != "", "action = ?", string(q.Action))
	add(q.KeyID != "", "key = ?", q.KeyID)
	add(!q.Since.IsZero(), "at >= ?", ceilMicros(q.Since))
	add(!q.Until.IsZero(), "at < ?", ceilMicros(q.Until))
	add(q.Before > 0, "sequence < ?", int64(q.Before))
	query := `SELECT ` + eventColumns + ` FROM events WHERE ` + strings.Join(where, " AND ") + ` ORDER BY sequence DESC LIMIT ?`
	return list(ctx, s, query, append(args, q.Limit), scanEvent)
}

// ceilMicros is the first time as the database keeps them that is not before t.
func ceilMicros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

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

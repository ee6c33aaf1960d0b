package sqlite

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlCountStates = `SELECT count(*) FROM states WHERE newest IS NOT NULL AND deleted_at IS NULL AND org <> '` + nobody +
		`'`
	sqlAllLocks = `SELECT org, name, lock_since FROM states WHERE lock_id IS NOT NULL AND org <> '` + nobody +
		`' ORDER BY lock_since`
)

// Totals implements state.Store. What was there at the start was counted then, and each
// transaction counts what it changes.
func (s *Store) Totals(context.Context) (state.Totals, error) {
	if err := s.gate.Enter(); err != nil {
		return state.Totals{}, err
	}
	defer s.gate.Leave()
	if s.uncounted != nil {
		return state.Totals{}, fault.Wrap(s.uncounted, fault.StoreUnavailable, "the states could not be counted at the start")
	}
	return s.session.census.Totals(), nil
}

// takeCensus counts what is there, before anybody writes.
func (s *Store) takeCensus(ctx context.Context) error {
	r := <-s.readers
	defer func() { s.readers <- r }()
	var states int64
	if err := r.conn.QueryRowContext(ctx, sqlCountStates).Scan(&states); err != nil {
		return err
	}
	s.session.census.Begin(states)
	err := each(ctx, r, sqlAllLocks, nil, scanLocked, func(held locked) (more bool) {
		s.session.census.Note(held.ref, state.Head{}, state.Head{Lock: &held.lock})
		return true
	})
	s.session.census.Settle()
	return err
}

// locked is a state with no more than its lock's time.
type locked struct {
	ref  state.Ref
	lock state.Lock
}

func scanLocked(scan stateengine.Scan) (held locked, err error) {
	var org string
	var since int64
	if err := scan(&org, &held.ref.Name, &since); err != nil {
		return held, err
	}
	held.lock.Since = time.UnixMicro(since).UTC()
	held.ref.Org, _ = uuid.Parse(org) // a row that nobody can ask for counts all the same
	return held, nil
}

// Databases implements vitals.Databases.
func (s *Store) Databases() map[string]vitals.Database {
	return map[string]vitals.Database{"states": s.writer.Vitals()}
}

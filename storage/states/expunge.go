package states

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// One with an open candidate is not to go.
	sqlFindDeleted = `SELECT s.id, s.deleted_at, s.is_locked FROM state_heads s` + ofRef + ` AND s.deleted_at IS NOT NULL
		AND NOT EXISTS (SELECT 1 ` + openCandidates + `)`
	sqlFindDoomed     = `SELECT id, owner FROM state_heads WHERE org = '' ORDER BY name LIMIT 1 FOR UPDATE`
	sqlDoomedRows     = `SELECT number, stored_bytes FROM state_versions WHERE state = ? ORDER BY number LIMIT ?`
	sqlDropState      = `DELETE FROM state_heads WHERE id = ?`
	sqlCandidatesLeft = `SELECT seq, stored_bytes FROM state_candidates WHERE state = ? ORDER BY seq LIMIT ?`
	sqlDropCandidate  = `DELETE FROM state_candidates WHERE seq = ?`
)

// Expunge implements state.Store. The first piece takes the state's name away; the next
// ones take what is left of it, or of any other state that was begun with and not
// finished, before a crash say.
func (s *Store) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (done bool, err error) {
	event.Org, event.State = ref.Org, string(ref.Name)
	if err := s.gate.Enter(); err != nil {
		return false, err
	}
	defer s.gate.Leave()
	s.bodies.Bases.Drop(ref)
	err = s.transact(ctx, ref, 0, func(t *tx) error {
		if err := t.doomDeleted(before, event); err != nil {
			return err
		}
		done, err = t.dropDoomed(limit)
		return err
	})
	return done, err
}

func (t *tx) doomDeleted(before time.Time, event audit.Event) error {
	if id, err := t.lock(); err != nil || id == 0 {
		return err
	}
	var id, deleted int64
	var locked bool
	found, err := t.One([]any{&id, &deleted, &locked}, sqlFindDeleted, t.ref.Org.String(), string(t.ref.Name))
	if err != nil || !found || locked || stateengine.FromMicros(deleted).After(before) {
		return err
	}
	if err := t.doom(id); err != nil {
		return err
	}
	return t.AddEvent(event)
}

// doom has nobody find a state any more: its name is free, and what it has goes in pieces.
func (t *tx) doom(id int64) error {
	t.freeLock(id)
	t.set(id, "owner, org, name, newest, is_deleted, is_expected", t.ref.Org.String(), "", id, nil, false, false)
	return t.setRow()
}

// dropDoomed takes a piece of a doomed state.
func (t *tx) dropDoomed(limit int) (done bool, err error) {
	id, owner, err := t.doomed(sqlFindDoomed)
	if err != nil || id == 0 {
		return err == nil, err
	}
	numbers, err := t.someVersions(id, limit, shreddedBytes)
	if err != nil {
		return false, err
	}
	if err := t.dropVersions(owner, id, numbers); err != nil || len(numbers) > 0 {
		return false, err
	}
	if removed, err := t.dropCandidates(owner, id, min(limit, shreddedCandidates)); err != nil || removed > 0 {
		return false, err
	}
	return false, t.dropRest(owner, id) // there may be another one
}

// doomed returns a doomed state and whose it was; zero when there is none.
func (t *tx) doomed(query string, args ...any) (id int64, owner uuid.UUID, err error) {
	_, err = t.One([]any{&id, &owner}, query, args...)
	return id, owner, err
}

// someVersions returns the numbers of a state's oldest versions, up to so many and about so many
// bytes.
func (t *tx) someVersions(id int64, limit int, most int64) (numbers []int64, err error) {
	rows, err := t.Query(sqlDoomedRows, id, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for bytes := int64(0); bytes < most && rows.Next(); {
		var number, stored int64
		if err := rows.Scan(&number, &stored); err != nil {
			return nil, err
		}
		numbers, bytes = append(numbers, number), bytes+stored
	}
	return numbers, rows.Err()
}

// dropVersions removes versions with their bodies.
func (t *tx) dropVersions(owner uuid.UUID, id int64, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	args := []any{id}
	for _, number := range numbers {
		args = append(args, number)
	}
	among := tuple(len(numbers))
	var rows, stored int64
	if _, err := t.One([]any{&rows, &stored}, sqlSizes+among, args...); err != nil {
		return err
	}
	t.grow(owner, -rows*state.RowBytes-stored)
	return t.all(statement{sqlDropBodies + among, args}, statement{sqlDropVersion + among, args})
}

// dropCandidates removes candidates with their bodies, and returns how many.
func (t *tx) dropCandidates(owner uuid.UUID, id int64, limit int) (removed int, err error) {
	rows, err := t.Query(sqlCandidatesLeft, id, limit)
	if err != nil {
		return 0, err
	}
	var left [][2]int64
	err = stateengine.Each(rows, func(scan stateengine.Scan) (c [2]int64, err error) { return c, scan(&c[0], &c[1]) },
		func(c [2]int64) bool {
			left = append(left, c)
			return true
		})
	for _, c := range left {
		if err != nil {
			break
		}
		t.grow(owner, -state.RowBytes-c[1])
		err = t.all(statement{sqlDropCandidate, []any{c[0]}}, statement{sqlDropBody, []any{id, -c[0]}})
	}
	return len(left), err
}

// dropRest removes what is left of a state: its own row comes last.
func (t *tx) dropRest(owner uuid.UUID, id int64) error {
	t.grow(owner, -state.RowBytes)
	return t.all(
		statement{`DELETE FROM state_lock_ids WHERE state = ?`, []any{id}},
		statement{`DELETE FROM state_purged WHERE state = ?`, []any{id}},
		statement{sqlDropState, []any{id}},
	)
}

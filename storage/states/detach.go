package states

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlDependent = `SELECT s.id, v.number` + versionOf + ofRef +
		` AND v.number > ? AND v.number < ? AND v.base = ? ORDER BY v.number DESC LIMIT 1`
	sqlReplace = `UPDATE state_versions SET encoding = ?, stored_bytes = ?, base = ? WHERE state = ? AND number = ?`
	sqlStored  = `SELECT stored_bytes FROM state_versions WHERE state = ? AND number = ? AND base = ? AND digest = ?`
)

// dependentTries is how often a dependent is looked for that is gone or stored anew when it is read.
const dependentTries = 10

// Dependent implements stateengine.Detacher.
func (s *Store) Dependent(ctx context.Context, ref state.Ref, number, above uint64) (*stateengine.Dependent, error) {
	bounded, cancel := context.WithTimeout(ctx, bodyTimeout)
	defer cancel()
	for range dependentTries {
		d, again, err := s.findDependent(bounded, ref, number, above)
		if err != nil || !again {
			return d, s.explain(ctx, err)
		}
	}
	return nil, s.sql.unavailable(errors.New("the versions that lean on another one change all the time"))
}

// findDependent finds one by one statement and reads it by another: again says that it was removed
// or stored anew in between.
func (s *Store) findDependent(ctx context.Context, ref state.Ref, number,
	above uint64) (d *stateengine.Dependent, again bool, err error) {
	in := s.bodies.Seals.Of(ctx, ref)
	d = &stateengine.Dependent{Base: int64(number)}
	var found int64
	low, high := int64(number)-stateengine.GroupLength, int64(number)+stateengine.GroupLength
	err = s.readers.QueryRowContext(ctx, sqlDependent, ref.Org.String(), string(ref.Name), max(low, int64(above)), high,
		d.Base).Scan(&d.State, &found)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	kept, err := s.numbered(ctx, ref, uint64(found))
	if fault.Is(err, fault.StateNotFound) || err == nil && kept.own.on != d.Base {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	d.ID, d.Kept = d.State, kept.own.body()
	err = d.Describe(&kept.row, in)
	switch {
	case err == nil:
		d.Whole = kept.base.body()
	case fault.Is(err, fault.StateCorrupt):
		err = nil
	}
	return d, false, err
}

// Replace implements stateengine.Detacher.
func (s *Store) Replace(ctx context.Context, ref state.Ref, d *stateengine.Dependent, packed stateengine.Stored,
	onto *stateengine.Base) (there bool, err error) {
	err = s.transact(ctx, ref, len(packed.Bytes), func(t *tx) error {
		there, err = t.replace(d, packed, onto)
		return err
	})
	return there, err
}

// replace stores a dependent anew, unless it or its new base went away meanwhile.
func (t *tx) replace(d *stateengine.Dependent, packed stateengine.Stored,
	onto *stateengine.Base) (there bool, err error) {
	id, err := t.lock()
	if err != nil || id != d.State {
		return onto == nil, err
	}
	var base any
	if onto != nil {
		if facts, err := t.Ask(id, stateengine.Questions{Base: onto}); err != nil || !facts.IsBase {
			return false, err
		}
		base = int64(onto.Number)
	}
	number := int64(d.Version.Number)
	var stored int64
	found, err := t.one([]any{&stored}, sqlStored, id, number, d.Base, d.Digest)
	if err != nil || !found {
		return true, err
	}
	t.grow(t.ref.Org, int64(packed.Counted())-stored)
	if err := t.later(sqlReplace, packed.Encoding, packed.Counted(), base, id, number); err != nil {
		return true, err
	}
	if err := t.later(sqlDropBody, id, number); err != nil {
		return true, err
	}
	return true, t.addPieces(id, number, packed.Bytes)
}

// lock locks the state's row, and returns its ID, zero for none.
func (t *tx) lock() (id int64, err error) {
	_, err = t.one([]any{&id}, sqlLockID, t.ref.Org.String(), string(t.ref.Name))
	return id, err
}

// detach stores anew what is a delta of a version and has a number above another one.
func (s *Store) detach(ctx context.Context, ref state.Ref, number, above uint64) error {
	return s.bodies.Detach(ctx, s, ref, number, above, s.log)
}

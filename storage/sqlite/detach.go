package sqlite

import (
	"context"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// sqlIsNeeded and the others look at numbers near a base's: an index of their own for
	// bases would have to be written with each version.
	sqlIsNeeded = `SELECT EXISTS (SELECT 1 FROM versions v JOIN bodies b ON b.id = v.id
		WHERE v.state = ? AND v.number > ? AND v.number < ? AND b.base = ?)`

	sqlNeeded = `SELECT f.number FROM states s JOIN versions v ON v.state = s.id
		JOIN bodies b ON b.id = v.id JOIN versions f ON f.id = b.base
		WHERE s.org = ? AND s.name = ? AND v.number > ? AND v.number < ? AND f.number <= ? LIMIT 1`

	sqlDependent = `SELECT v.id, v.state, b.base, ` + bodyColumns + stateengine.VersionColumns + `
		FROM states s JOIN versions f ON f.state = s.id JOIN versions v ON v.state = s.id ` + fromBodies + `
		WHERE s.org = ? AND s.name = ? AND f.number = ? AND v.number > ? AND v.number < ? AND b.base = f.id
		ORDER BY v.number DESC LIMIT 1`

	sqlReplace rowWrite = `UPDATE bodies SET encoding = ?, bytes = ?, base = nullif(?, 0) WHERE id = ? AND base = ?
		AND EXISTS (SELECT 1 FROM versions v WHERE v.id = bodies.id AND v.state = ? AND v.digest = ?)`
)

// Replace implements stateengine.Detacher.
func (s *Store) Replace(ctx context.Context, ref state.Ref, d *stateengine.Dependent, packed stateengine.Stored,
	onto *stateengine.Base) (there bool, err error) {
	err = s.transact(ctx, ref.Org, func(t *session) error {
		there, err = t.replace(ref, d, packed, onto)
		return err
	})
	return there, err
}

// replace stores a dependent anew, unless it or its new base went away meanwhile.
func (t *session) replace(ref state.Ref, d *stateengine.Dependent, packed stateengine.Stored,
	onto *stateengine.Base) (there bool, err error) {
	if onto != nil {
		if there, err = t.isBaseOf(d.State, onto); err != nil || !there {
			return false, err
		}
	}
	_, err = t.rowsOf(ref).run(sqlReplace, packed.Encoding, packed.Bytes, packed.Base.ID, d.ID, d.Base, d.State, d.Digest)
	return true, err
}

// Dependent implements stateengine.Detacher. The reader is given back before the version is
// decoded.
func (s *Store) Dependent(ctx context.Context, ref state.Ref, number,
	above uint64) (found *stateengine.Dependent, err error) {
	low, high := int64(number)-stateengine.GroupLength, int64(number)+stateengine.GroupLength
	in := s.bodies.Seals.Of(ctx, ref)
	args := []any{ref.Org.String(), string(ref.Name), int64(number), max(low, int64(above)), high}
	err = s.borrow(ctx, func(r *reader) error {
		rows, err := r.conn.QueryContext(context.Background(), sqlDependent, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if found = nil; !rows.Next() {
			return rows.Err()
		}
		found, err = stateengine.ScanDependent(rows, in)
		return err
	})
	return found, err
}

// detach stores anew what is a delta of a version and has a number above another one.
func (s *Store) detach(ctx context.Context, ref state.Ref, number, above uint64) error {
	return s.bodies.Detach(ctx, s, ref, number, above, s.log)
}

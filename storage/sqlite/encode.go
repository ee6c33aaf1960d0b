package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/holdfast/holdfast/state"
)

// sqlBase finds the base of the newest version, which may be that version itself. What the
// client has encrypted has nothing in common with anything.
const sqlBase = `SELECT v.id, n.number, a.encoding, a.bytes, ` + versionColumns + ` FROM states s
	JOIN versions n ON n.id = s.newest JOIN bodies b ON b.id = n.id
	JOIN versions v ON v.id = ifnull(b.base, b.id) JOIN bodies a ON a.id = v.id
	WHERE s.org = ? AND s.name = ? AND n.encrypted = 0 AND v.size BETWEEN ? AND ? AND a.base IS NULL`

// encode makes of a body what is to be stored: a delta, and then from is its base; or the
// whole body.
func (s *Store) encode(ctx context.Context, ref state.Ref, body []byte) (packed stored, from *base) {
	if len(body) >= s.deltaFrom && len(body) <= deltaTo {
		if packed, from = s.difference(ctx, ref, body); from != nil {
			return packed, from
		}
	}
	return s.codec.encode(body), nil
}

// difference encodes body as a delta of the state's newest base; from is nil when there is
// none that helps. As many run at once as there are processors, which bounds the memory of
// the bases that they use.
func (s *Store) difference(ctx context.Context, ref state.Ref, body []byte) (packed stored, from *base) {
	release, err := s.differing.Acquire(ctx, ref.Org)
	if err != nil {
		return stored{}, nil // it is stored whole
	}
	defer release()
	from = s.bases.get(ref)
	if from == nil {
		from = s.loadBase(ctx, ref)
	}
	if from == nil || !from.serves(from.newest+1, len(body)) {
		return stored{}, nil
	}
	packed, ok := s.codec.difference(from, body)
	if !ok {
		return stored{}, nil
	}
	return packed, from
}

// loadBase returns nil when there is no base, and when it can't be read: then the version
// stands on its own. The reader is given back before the base is decoded.
func (s *Store) loadBase(ctx context.Context, ref state.Ref) *base {
	var (
		found *base
		of    state.Version
		kept  stored
	)
	err := s.borrow(ctx, func(r *reader) error {
		rows, err := r.base.QueryContext(context.Background(), ref.Org.String(), string(ref.Name), s.deltaFrom, baseTo)
		if err != nil {
			return err
		}
		defer rows.Close()
		if !rows.Next() {
			return rows.Err()
		}
		found, of, kept, err = scanBase(rows)
		return err
	})
	if err != nil || found == nil {
		return nil
	}
	if found.body, err = s.codec.decode(of, kept, stored{}); err != nil {
		return nil
	}
	s.bases.keep(ref, *found)
	return found
}

// scanBase returns a base without its body, which is to be decoded from what is kept.
func scanBase(rows *sql.Rows) (b *base, of state.Version, kept stored, err error) {
	var (
		own storedRow
		row versionRow
	)
	b = &base{}
	if err = rows.Scan(slices.Concat([]any{&b.id, &b.newest}, own.fields(), row.fields())...); err != nil {
		return nil, of, kept, err
	}
	if of, err = row.value(); err != nil {
		return nil, of, kept, err
	}
	kept = own.copied()
	b.number, b.digest, b.packed = of.Number, of.Digest, len(kept.bytes)
	return b, of, kept, nil
}

// learn takes in what an update has recorded.
func (s *Store) learn(u *update, body []byte) {
	v := u.head.Version
	switch {
	case u.row == 0:
	case u.from != nil:
		known := *u.from
		known.newest = v.Number
		s.bases.keep(u.ref, known)
	case u.size < s.deltaFrom || u.size > baseTo:
		s.bases.drop(u.ref)
	default:
		known := base{baseID: baseID{u.row, v.Number, v.Digest}, body: body, packed: len(u.body.bytes), newest: v.Number}
		if v.Encrypted {
			known.body = nil
		}
		s.bases.keep(u.ref, known)
	}
}

// baseless reports whether the update's body can't be stored as it is encoded, because its
// base went away or does not reach as far.
func (u *update) baseless(t *session, row headRow, change state.Change) (bool, error) {
	switch from := u.from; {
	case from == nil:
		return false, nil
	case change.Candidate != nil: // it outlives versions
		return true, nil
	case change.Version == nil:
		return false, nil
	case !from.reaches(change.Version.Number):
		return true, nil
	case row.base == from.baseID:
		return false, nil
	default:
		there, err := t.isBaseOf(row.id, from)
		return !there, err
	}
}

// baseAfter is the base that the state is known to have once the update is recorded.
func (u *update) baseAfter(row headRow) baseID {
	switch {
	case u.row == 0:
		return row.base
	case u.from != nil:
		return u.from.baseID
	default:
		return baseID{u.row, u.head.Version.Number, u.head.Version.Digest}
	}
}

// isBaseOf reports whether b is a base among the state's versions.
func (t *session) isBaseOf(id int64, b *base) (there bool, err error) {
	err = t.isBase.QueryRowContext(context.Background(), b.id, id, int64(b.number), b.digest[:]).Scan(&there)
	return there, err
}

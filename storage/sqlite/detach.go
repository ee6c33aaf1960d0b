package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

const (
	// sqlIsNeeded and the others look at numbers near a base's: an index of their own for
	// bases would have to be written with each version.
	sqlIsNeeded = `SELECT EXISTS (SELECT 1 FROM versions v JOIN bodies b ON b.id = v.id
		WHERE v.state = ? AND v.number > ? AND v.number < ? AND b.base = ?)`

	sqlNeeded = `SELECT f.number FROM states s JOIN versions v ON v.state = s.id
		JOIN bodies b ON b.id = v.id JOIN versions f ON f.id = b.base
		WHERE s.org = ? AND s.name = ? AND v.number > ? AND v.number < ? AND f.number <= ? LIMIT 1`

	sqlDependent = `SELECT v.id, v.state, b.base, ` + bodyColumns + versionColumns + `
		FROM states s JOIN versions f ON f.state = s.id JOIN versions v ON v.state = s.id ` + fromBodies + `
		WHERE s.org = ? AND s.name = ? AND f.number = ? AND v.number > ? AND v.number < ? AND b.base = f.id
		ORDER BY v.number DESC LIMIT 1`

	sqlReplace rowWrite = `UPDATE bodies SET encoding = ?, bytes = ?, base = nullif(?, 0) WHERE id = ? AND base = ?
		AND EXISTS (SELECT 1 FROM versions v WHERE v.id = bodies.id AND v.state = ? AND v.digest = ?)`
)

// dependent is a version that is a delta of another one.
type dependent struct {
	row, state, base int64
	version          state.Version
	digest           []byte // as it is stored
	kept, whole      stored // itself and its base, as they are stored
	body             []byte // nil when it can't be read
}

// detach stores anew what is a delta of a version and has a number above another one: the
// last of them whole, the others as deltas of it. So the next to go first, the oldest, is
// needed by none. Each is stored in a transaction of its own, after which all of them can be
// read; the writer does no more than that.
//
// It comes to an end: each turn leaves one dependent less, or goes on without a base that
// went away. New ones can be so many only, as their numbers are bounded by groupLength; the
// turns are bounded too, for a database in which something else is wrong.
func (s *Store) detach(ctx context.Context, ref state.Ref, number, above uint64) error {
	release, err := s.detaching.Acquire(ctx, ref.Org) // each has two bodies in hand
	if err != nil {
		return err
	}
	defer release()
	var onto *base
	for range 8 * groupLength {
		d, err := s.dependent(ctx, ref, number, above)
		if err != nil || d == nil {
			return err
		}
		var packed stored
		if packed, onto = s.encodeAgain(d, onto); d.body == nil {
			s.log.Warn("a version can't be read, as it or the one that it is a delta of is damaged",
				"org", ref.Org, "state", ref.Name, "version", d.version.Number)
		}
		err = s.transact(ctx, ref.Org, func(t *session) error {
			there, err := t.replace(ref, d, packed, onto)
			if !there {
				onto = nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return fault.New(fault.StoreUnavailable, "versions that need version %d could not all be stored anew; ask again", number)
}

// encodeAgain encodes a dependent as a delta of onto, or whole: then it is what the next
// ones go onto. What can't be read stays as it is, without the base.
func (s *Store) encodeAgain(d *dependent, onto *base) (stored, *base) {
	if d.body == nil {
		return stored{encoding: d.kept.encoding, bytes: d.kept.bytes}, onto
	}
	v := d.version
	if onto != nil && onto.serves(v.Number, len(d.body)) {
		if packed, ok := s.codec.difference(onto, d.body); ok {
			return packed, onto
		}
	}
	packed := s.codec.encode(d.body)
	return packed, &base{baseID: baseID{d.row, v.Number, v.Digest}, body: d.body, packed: len(packed.bytes)}
}

// replace stores a dependent anew, unless it or its new base went away meanwhile.
func (t *session) replace(ref state.Ref, d *dependent, packed stored, onto *base) (there bool, err error) {
	if packed.base != 0 {
		if there, err = t.isBaseOf(d.state, onto); err != nil || !there {
			return false, err
		}
	}
	_, err = t.rowsOf(ref).run(sqlReplace, packed.encoding, packed.bytes, packed.base, d.row, d.base, d.state, d.digest)
	return true, err
}

// dependent returns the last version that is a delta of this one and has a number above
// another one; nil when there is none. The reader is given back before the version is
// decoded.
func (s *Store) dependent(ctx context.Context, ref state.Ref, number, above uint64) (found *dependent, err error) {
	low, high := int64(number)-groupLength, int64(number)+groupLength
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
		found, err = scanDependent(rows)
		return err
	})
	if err != nil || found == nil {
		return nil, err
	}
	return found, found.decode(s.codec)
}

// scanDependent returns a dependent without its body. When its row says what can't be, its
// base is left out, without which nothing is decoded.
func scanDependent(rows *sql.Rows) (*dependent, error) {
	var (
		d          dependent
		own, whole storedRow
		row        versionRow
	)
	err := rows.Scan(slices.Concat([]any{&d.row, &d.state, &d.base}, own.fields(), whole.fields(), row.fields())...)
	if err != nil {
		return nil, err
	}
	d.digest, d.kept = row.digest, own.copied()
	if d.version, err = row.value(); err == nil {
		d.whole = whole.copied()
	}
	if fault.Is(err, fault.StateCorrupt) {
		d.version.Number, err = uint64(row.number), nil
	}
	return &d, err
}

// decode reads the body, which stays nil when the stored bytes are damaged.
func (d *dependent) decode(c *codec) (err error) {
	d.body, err = c.decode(d.version, d.kept, d.whole)
	d.whole = stored{}
	if fault.Is(err, fault.StateCorrupt) {
		return nil
	}
	return err
}

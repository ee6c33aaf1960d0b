package sqlite

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// sqlBase finds the base of the newest version, which may be that version itself. What the
// client has encrypted has nothing in common with anything.
const sqlBase = `SELECT v.id, n.number, a.encoding, a.bytes, ` + stateengine.VersionColumns + ` FROM states s
	JOIN versions n ON n.id = s.newest JOIN bodies b ON b.id = n.id
	JOIN versions v ON v.id = coalesce(b.base, b.id) JOIN bodies a ON a.id = v.id
	WHERE s.org = ? AND s.name = ? AND n.encrypted = 0 AND v.size BETWEEN ? AND ? AND a.base IS NULL`

// findBase implements stateengine.Find. The reader is given back before the base is decoded.
func (s *Store) findBase(ctx context.Context, ref state.Ref, from, to int) (found *stateengine.Found, err error) {
	err = s.borrow(ctx, func(r *reader) error {
		rows, err := r.base.QueryContext(context.Background(), ref.Org.String(), string(ref.Name), from, to)
		if err != nil {
			return err
		}
		defer rows.Close()
		if !rows.Next() {
			return rows.Err()
		}
		var (
			own stateengine.StoredRow
			row stateengine.VersionRow
			one stateengine.Found
			in  = s.bodies.Seals.Of(ctx, ref)
		)
		if err := rows.Scan(slices.Concat([]any{&one.Base.ID, &one.Base.Newest}, own.Fields(), row.Fields())...); err != nil {
			return err
		}
		if one.Version, err = row.Value(in); err == nil {
			one.Base.Kept = slices.Clone(row.Digest())
			one.Kept, found = own.Copied(), &one
		}
		return err
	})
	return found, err
}

// Lend implements readmap.Borrower.
func (s *Store) Lend(newest func(state.Ref) (state.Snapshot, bool)) { s.bodies.Lend(newest) }

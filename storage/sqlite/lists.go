package sqlite

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// scan reads one row into pointers.
type scan func(fields ...any) error

// list runs a query on an idle reader and reads its rows.
func list[T any](ctx context.Context, s *Store, query string, args []any, read func(scan) (T, error)) (found []T, err error) {
	err = s.read(ctx, func(r *reader) error {
		rows, err := r.conn.QueryContext(context.Background(), query, args...)
		if err != nil {
			return err
		}
		found = nil
		for rows.Next() {
			one, err := read(rows.Scan)
			if err != nil {
				return errors.Join(err, rows.Close())
			}
			found = append(found, one)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	return found, err
}

// A state that is being expunged in pieces has a name that no state can have, so that its
// own is free again.
const doomed = "!"

const (
	// A range stands for the prefix, so that the index on org and name serves it.
	sqlStates = `SELECT s.name, ` + headColumns + fromHeads + `
		WHERE s.org = ? AND s.name > ? AND s.name >= ? AND s.name < ? AND s.name NOT LIKE '` + doomed + `%'
		  AND s.newest IS NOT NULL AND (? OR s.deleted_at IS NULL)
		ORDER BY s.name LIMIT ?`

	sqlLocked = `SELECT s.name, ` + headColumns + fromHeads + `
		WHERE s.org = ? AND s.name > ? AND s.name >= ? AND s.name < ? AND s.lock_id IS NOT NULL
		ORDER BY s.name LIMIT ?`

	sqlVersions = `SELECT ` + versionColumns + ` FROM states s JOIN versions v ON v.state = s.id
		WHERE s.org = ? AND s.name = ? AND v.number < ? ORDER BY v.number DESC LIMIT ?`

	sqlAll = `SELECT s.org, s.name, ` + headColumns + fromHeads + `
		WHERE (s.org, s.name) > (?, ?) ORDER BY s.org, s.name LIMIT ?`
)

// States implements state.Store.
func (s *Store) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) ([]state.Listed, error) {
	// "\x7f" lies above every character of a name.
	args := []any{org.String(), string(q.After), q.Prefix, q.Prefix + "\x7f"}
	query := sqlLocked
	if !q.Locked {
		query, args = sqlStates, append(args, q.Deleted)
	}
	return list(ctx, s, query, append(args, q.Limit), func(scan scan) (state.Listed, error) {
		var listed state.Listed
		var err error
		listed.Head, err = scanHead(scan, &listed.Name)
		return listed, err
	})
}

// scanHead reads a row that ends with headColumns.
func scanHead(scan scan, before ...any) (state.Head, error) {
	var q headQuery
	if err := scan(append(before, q.fields()...)...); err != nil {
		return state.Head{}, err
	}
	row, err := q.value()
	return row.head, err
}

// Versions implements state.Store.
func (s *Store) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	if before == 0 {
		before = 1<<63 - 1
	}
	return list(ctx, s, sqlVersions, []any{ref.Org.String(), string(ref.Name), int64(before), limit}, func(scan scan) (state.Version, error) {
		var row versionRow
		if err := scan(row.fields()...); err != nil {
			return state.Version{}, err
		}
		return row.value()
	})
}

// All implements state.Store.
func (s *Store) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	from := ""
	if after != (state.Ref{}) {
		from = after.Org.String()
	}
	return list(ctx, s, sqlAll, []any{from, string(after.Name), limit}, func(scan scan) (state.Located, error) {
		var located state.Located
		var org string
		head, err := scanHead(scan, &org, &located.Ref.Name)
		if err == nil {
			located.Ref.Org, err = uuid.Parse(org)
		}
		located.Head = head
		return located, err
	})
}

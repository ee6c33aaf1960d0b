package sqlite

import (
	"context"
	"errors"
	"math"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// scan reads one row into pointers.
type scan func(fields ...any) error

// list runs a query on an idle reader and reads its rows.
func list[T any](ctx context.Context, s *Store, query string, args []any, read func(scan) (T, error)) (found []T, err error) {
	err = s.read(ctx, func(r *reader) error {
		found, err = collect(r, query, args, read)
		return err
	})
	return found, err
}

func collect[T any](r *reader, query string, args []any, read func(scan) (T, error)) (found []T, err error) {
	rows, err := r.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		one, err := read(rows.Scan)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		found = append(found, one)
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

const (
	openCandidates = `FROM candidates c WHERE c.state = s.id AND c.status = 'open'`

	listedColumns = `s.name, (SELECT count(*) ` + openCandidates + `), ` + headColumns

	// One range stands for the prefix and for where the page begins: of two lower bounds the
	// index would serve one, and walk past all that the other leaves out.
	sqlStates = `SELECT ` + listedColumns + fromHeads + `
		WHERE s.org = ? AND s.name >= ? AND s.name < ?
		  AND (s.newest IS NOT NULL OR EXISTS (SELECT 1 ` + openCandidates + `)) AND CASE WHEN s.deleted_at IS NULL THEN ? ELSE ? END
		ORDER BY s.name LIMIT ?`

	sqlLocked = `SELECT ` + listedColumns + fromHeads + `
		WHERE s.org = ? AND s.name >= ? AND s.name < ? AND s.lock_id IS NOT NULL
		ORDER BY s.name LIMIT ?`

	sqlVersions = `SELECT ` + versionColumns + ` FROM states s JOIN versions v ON v.state = s.id
		WHERE s.org = ? AND s.name = ? AND v.number < ? ORDER BY v.number DESC LIMIT ?`

	sqlAll = `SELECT s.org, s.name, ` + headColumns + fromHeads + `
		WHERE (s.org, s.name) > (?, ?) ORDER BY s.org, s.name LIMIT ?`
)

// aboveNames lies above every character of a name, and behind every name.
const aboveNames = "\x7f"

// States implements state.Store.
func (s *Store) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) ([]state.Listed, error) {
	from := q.Prefix
	if q.After != "" {
		from = max(from, string(q.After)+"\x00") // the first text behind it
	}
	args := []any{org.String(), from, q.Prefix + aboveNames}
	query := sqlLocked
	if !q.Locked {
		query, args = sqlStates, append(args, q.Deleted.Selects(false), q.Deleted.Selects(true))
	}
	return list(ctx, s, query, append(args, q.Limit), func(scan scan) (state.Listed, error) {
		var listed state.Listed
		var err error
		listed.Head, err = scanHead(scan, &listed.Name, &listed.OpenCandidates)
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
		before = math.MaxInt64
	}
	return list(ctx, s, sqlVersions, []any{ref.Org.String(), string(ref.Name), key(before), limit}, func(scan scan) (state.Version, error) {
		var row versionRow
		if err := scan(row.fields()...); err != nil {
			return state.Version{}, err
		}
		return row.value()
	})
}

// All implements state.Store.
func (s *Store) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	org, name := nobody, aboveNames
	if after != (state.Ref{}) {
		org, name = after.Org.String(), string(after.Name)
	}
	return list(ctx, s, sqlAll, []any{org, name, limit}, func(scan scan) (state.Located, error) {
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

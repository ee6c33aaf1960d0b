package sqlite

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// listTime is for how long a list may run, and with it keep the WAL from being moved into
// the database. A list looks at so few rows that only a disk that hangs takes as long. A page
// that has come some way by then ends there.
const listTime = time.Second

// server is whose turn it is when the server itself lists or writes.
func server() uuid.UUID { return uuid.Nil }

// scan reads one row into pointers.
type scan func(fields ...any) error

// list runs a query of an organization's in its turn, and reads its rows.
func list[T any](ctx context.Context, s *Store, org uuid.UUID, query string, args []any, read func(scan) (T, error)) (found []T, err error) {
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		found, err = collect(ctx, r, query, args, read)
		return err
	})
	return found, err
}

// list lends a reader of those for lists to do, when it is the organization's turn. Unlike a
// read of one state it is interrupted when ctx ends.
func (s *Store) list(ctx context.Context, org uuid.UUID, do func(context.Context, *reader) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	release, err := s.turns.Acquire(ctx, org)
	if err != nil {
		return err
	}
	defer release()
	r := <-s.listers // there is one for each turn
	defer func() { s.listers <- r }()
	timed, cancel := context.WithTimeout(ctx, s.patient)
	defer cancel()
	err = do(timed, r)
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // also where a page would end for it
	case err == nil:
		return nil
	case timed.Err() != nil:
		f := fault.Wrap(err, fault.Overloaded, "the list took too long to read; nothing was done")
		f.RetryAfter = listTime
		return f
	}
	return storeError(err)
}

func collect[T any](ctx context.Context, r *reader, query string, args []any, read func(scan) (T, error)) (found []T, err error) {
	err = each(ctx, r, query, args, read, func(one T) bool {
		found = append(found, one)
		return true
	})
	return found, err
}

// each hands on the rows of a query until it is told that there is no more to do.
func each[T any](ctx context.Context, r *reader, query string, args []any, read func(scan) (T, error), next func(T) (more bool)) error {
	rows, err := r.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		one, err := read(rows.Scan)
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		if !next(one) {
			return rows.Close()
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

const (
	sqlVersions = `SELECT ` + versionColumns + ` FROM states s JOIN versions v ON v.state = s.id
		WHERE s.org = ? AND s.name = ? AND v.number < ? ORDER BY v.number DESC LIMIT ?`

	sqlAll = `SELECT s.org, s.name, ` + headColumns + fromHeads + `
		WHERE (s.org, s.name) > (?, ?) ORDER BY s.org, s.name LIMIT ?`
)

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
	args := []any{ref.Org.String(), string(ref.Name), key(before), limit}
	return list(ctx, s, ref.Org, sqlVersions, args, func(scan scan) (state.Version, error) {
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
	return list(ctx, s, server(), sqlAll, []any{org, name, limit}, func(scan scan) (state.Located, error) {
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

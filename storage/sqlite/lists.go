package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// listTime is for how long a list may run, and with it keep the WAL from being moved into
// the database. A list looks at so few rows that only a disk that hangs takes as long. A page
// that has come some way by then ends there.
const listTime = time.Second

// server is whose turn it is when the server itself lists or writes.
func server() uuid.UUID { return uuid.Nil }

// list runs a query of an organization's in its turn, and reads its rows.
func list[T any](ctx context.Context, s *Store, org uuid.UUID, query string, args []any,
	read func(stateengine.Scan) (T, error)) (found []T, err error) {
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		found, err = collect(ctx, r, query, args, read)
		return err
	})
	return found, err
}

// list lends a reader of those for lists to do, when it is the organization's turn. Unlike a
// read of one state it is interrupted when ctx ends.
func (s *Store) list(ctx context.Context, org uuid.UUID, do func(context.Context, *reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
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

func collect[T any](ctx context.Context, r *reader, query string, args []any,
	read func(stateengine.Scan) (T, error)) (found []T, err error) {
	err = each(ctx, r, query, args, read, func(one T) bool {
		found = append(found, one)
		return true
	})
	return found, err
}

// each hands on the rows of a query until it is told that there is no more to do.
func each[T any](ctx context.Context, r *reader, query string, args []any,
	read func(stateengine.Scan) (T, error), next func(T) (more bool)) error {
	rows, err := r.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return stateengine.Each(rows, read, next)
}

const (
	sqlVersions = `SELECT ` + stateengine.VersionColumns + ` FROM states s JOIN versions v ON v.state = s.id
		WHERE s.org = ? AND s.name = ? AND v.number < ? ORDER BY v.number DESC LIMIT ?`

	sqlAll = `SELECT s.org, s.name, ` + stateengine.HeadColumns + fromHeads + `
		WHERE (s.org, s.name) > (?, ?) ORDER BY s.org, s.name LIMIT ?`
)

// Versions implements state.Store.
func (s *Store) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	args := []any{ref.Org.String(), string(ref.Name), stateengine.Key(before), limit}
	return list(ctx, s, ref.Org, sqlVersions, args, s.bodies.Seals.Of(ctx, ref).ScanVersion)
}

// All implements state.Store.
func (s *Store) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	org, name := nobody, stateengine.AboveNames
	if after != (state.Ref{}) {
		org, name = after.Org.String(), string(after.Name)
	}
	return list(ctx, s, server(), sqlAll, []any{org, name, limit}, s.bodies.Seals.Located(ctx))
}

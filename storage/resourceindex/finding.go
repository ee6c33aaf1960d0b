package resourceindex

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// finding is one call of somebody who looks for something in an organization's inventory.
type finding struct {
	x   *Index
	org uuid.UUID
	id  int64 // the organization's number
}

// find begins a call. An organization that is not known has nothing to be found.
func (x *Index) find(ctx context.Context, org uuid.UUID) (f finding, known bool, err error) {
	f = finding{x: x, org: org}
	err = f.turn(ctx, func(ctx context.Context, db *sql.DB) error {
		err := db.QueryRowContext(ctx, "SELECT id FROM orgs WHERE org = ?", org.String()).Scan(&f.id)
		if known = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return f, known, err
}

// turn runs one short read on a connection of its own when it is the organization's turn.
func (f finding) turn(ctx context.Context, read func(context.Context, *sql.DB) error) error {
	release, err := f.x.turns.Acquire(ctx, f.org)
	if err != nil {
		return err
	}
	defer release()
	c, err := f.x.opened()
	if err != nil {
		return err
	}
	err = read(ctx, c.finders)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // SQLite says no more than that it was interrupted
	}
	if err != nil && (f.x.current.Load() != c || !c.inPlace()) {
		// A connection that was made meanwhile may have found another file.
		return fault.Wrap(err, fault.StoreUnavailable, "the resource index was opened again meanwhile; ask again")
	}
	return f.x.fault(err)
}

// fromTurn is turn for a read that lists something.
func fromTurn[T any](ctx context.Context, f finding,
	one func(scan) (T, error), query string, args ...any) (all []T, err error) {
	err = f.turn(ctx, func(ctx context.Context, db *sql.DB) (err error) {
		all, err = list(ctx, f.x, db, one, query, args...)
		return err
	})
	return all, err
}

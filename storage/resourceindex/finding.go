package resourceindex

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"
)

// finding is one call of somebody who looks for something in an organization's inventory.
type finding struct {
	x   *Index
	db  *sql.DB // from the beginning to the end of the call: in another one, id is another organization's
	org uuid.UUID
	id  int64 // the organization's number
}

// find begins a call. An organization that is not known has nothing to be found.
func (x *Index) find(ctx context.Context, org uuid.UUID) (f finding, known bool, err error) {
	f = finding{x: x, db: x.db.Load(), org: org}
	err = f.turn(ctx, func(ctx context.Context, db *sql.DB) error {
		err := db.QueryRowContext(ctx, "SELECT id FROM orgs WHERE org = ?", org.String()).Scan(&f.id)
		if known = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return f, known, err
}

// turn runs one short read when it is the organization's turn.
func (f finding) turn(ctx context.Context, read func(context.Context, *sql.DB) error) error {
	release, err := f.x.turns.Acquire(ctx, f.org)
	if err != nil {
		return err
	}
	defer release()
	err = read(ctx, f.db)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // SQLite says no more than that it was interrupted
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

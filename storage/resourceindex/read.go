package resourceindex

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// Position implements resources.Index.
func (x *Index) Position(ctx context.Context) (p resources.Position, err error) {
	var sequence int64
	err = x.db.Load().QueryRowContext(ctx, "SELECT sequence, event, complete FROM position").Scan(&sequence, &p.Event,
		&p.Complete)
	p.Sequence = uint64(sequence)
	return p, x.fault(err)
}

const heldColumns = `SELECT orgs.org, h.state, h.version, h.digest, h.at, h.unread `

// The states of one organization behind a name, and those of the organizations behind it.
const (
	sqlHeld = heldColumns + `FROM orgs CROSS JOIN holdings h INDEXED BY holdings_live
		WHERE orgs.org = ? AND h.org = orgs.id AND h.live = 1 AND h.state > ? ORDER BY h.state LIMIT ?`
	sqlHeldBehind = heldColumns + `FROM orgs CROSS JOIN holdings h INDEXED BY holdings_live
		WHERE orgs.org > ? AND h.org = orgs.id AND h.live = 1 AND h.state > '' ORDER BY orgs.org, h.state LIMIT ?`
	sqlUnread = heldColumns + `FROM orgs CROSS JOIN holdings h INDEXED BY holdings_unread
		WHERE orgs.id = ? AND h.org = orgs.id AND h.live = 1 AND h.unread <> '' AND h.state > ? ORDER BY h.state LIMIT ?`
)

// Holdings implements resources.Index.
func (x *Index) Holdings(ctx context.Context, after state.Ref, limit int) ([]resources.Held, error) {
	db := x.db.Load()
	held, err := list(ctx, x, db, scanHeld, sqlHeld, after.Org.String(), string(after.Name), limit)
	if err != nil || len(held) == limit {
		return held, err
	}
	behind, err := list(ctx, x, db, scanHeld, sqlHeldBehind, after.Org.String(), limit-len(held))
	return append(held, behind...), err
}

// Unread implements resources.Finder.
func (x *Index) Unread(ctx context.Context, org uuid.UUID, scope resources.Scope,
	limit int) (unread []resources.Held, err error) {
	f, known, err := x.find(ctx, org)
	if err != nil || !known || !scope.AnyState {
		return nil, err
	}
	for after, more := "", true; more && len(unread) < limit; {
		held, err := fromTurn(ctx, f, scanHeld, sqlUnread, f.id, after, x.limits.piece)
		if err != nil {
			return nil, err
		}
		for _, one := range held {
			after = string(one.Ref.Name)
			if len(unread) < limit && (scope.States == nil || scope.States(after)) {
				unread = append(unread, one)
			}
		}
		more = len(held) == x.limits.piece
	}
	return unread, nil
}

// Followed implements resources.Index.
func (x *Index) Followed(ctx context.Context) (map[uuid.UUID]string, error) {
	type row struct {
		org    uuid.UUID
		cursor string
	}
	rows, err := list(ctx, x, x.db.Load(), func(scan scan) (r row, err error) {
		var org string
		if err := scan(&org, &r.cursor); err != nil {
			return r, err
		}
		r.org, err = uuid.Parse(org)
		return r, err
	}, "SELECT org, cursor FROM orgs WHERE cursor IS NOT NULL")
	all := make(map[uuid.UUID]string, len(rows))
	for _, r := range rows {
		all[r.org] = r.cursor
	}
	return all, err
}

// Cursor implements resources.Finder.
func (x *Index) Cursor(ctx context.Context, org uuid.UUID) (string, error) {
	var cursor sql.NullString
	err := x.db.Load().QueryRowContext(ctx, "SELECT cursor FROM orgs WHERE org = ?", org.String()).Scan(&cursor)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return cursor.String, x.fault(err)
}

// list runs a query and returns what one makes of each row.
func list[T any](ctx context.Context, x *Index, db *sql.DB,
	one func(scan) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := each(ctx, x, db, one, keep(&all), query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// keep adds all that it gets to a list.
func keep[T any](all *[]T) func(T) bool {
	return func(one T) bool {
		*all = append(*all, one)
		return true
	}
}

// each runs a query and hands on what one makes of each row, until next returns false.
func each[T any](ctx context.Context, x *Index, db *sql.DB,
	one func(scan) (T, error), next func(T) bool, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return x.fault(err)
	}
	return x.fault(read(rows, one, next))
}

// read hands on what one makes of each row, until next returns false, and closes them.
func read[T any](rows *sql.Rows, one func(scan) (T, error), next func(T) bool) error {
	defer func() { _ = rows.Close() }() // what it could say, Err says
	for rows.Next() {
		value, err := one(rows.Scan)
		if err != nil {
			return err
		}
		if !next(value) {
			return nil
		}
	}
	return rows.Err()
}

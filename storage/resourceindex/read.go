package resourceindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// Position implements resources.Index.
func (x *Index) Position(ctx context.Context) (p resources.Position, err error) {
	var sequence int64
	err = x.readers().QueryRowContext(ctx, "SELECT sequence, event, complete, reader FROM position").Scan(&sequence, &p.Event, &p.Complete, &p.Reader)
	p.Sequence = uint64(sequence)
	return p, x.fault(err)
}

const heldColumns = `SELECT orgs.org, h.state, h.version, h.digest, h.at, h.unread FROM holdings h JOIN orgs ON orgs.id = h.org
	WHERE h.live = 1 AND h.state <> ''`

// Holdings implements resources.Index.
func (x *Index) Holdings(ctx context.Context, after state.Ref, limit int) ([]resources.Held, error) {
	return list(ctx, x, scanHeld, heldColumns+` AND (orgs.org, h.state) > (?, ?) ORDER BY orgs.org, h.state LIMIT ?`,
		after.Org.String(), string(after.Name), limit)
}

// Unread implements resources.Finder.
func (x *Index) Unread(ctx context.Context, org uuid.UUID, scope resources.Scope, limit int) ([]resources.Held, error) {
	v, err := x.view(ctx, org, scope)
	if err != nil {
		return nil, err
	}
	s := v.states("h.state")
	return list(ctx, x, scanHeld, heldColumns+` AND h.org = ? AND h.unread <> '' AND `+s.text+` ORDER BY h.state LIMIT ?`,
		append(append([]any{v.org}, s.args...), limit)...)
}

// Followed implements resources.Index.
func (x *Index) Followed(ctx context.Context) (map[uuid.UUID]string, error) {
	type row struct {
		org    uuid.UUID
		cursor string
	}
	rows, err := list(ctx, x, func(scan scan) (r row, err error) {
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
	err := x.readers().QueryRowContext(ctx, "SELECT cursor FROM orgs WHERE org = ?", org.String()).Scan(&cursor)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return cursor.String, x.fault(err)
}

// Search implements resources.Finder.
func (x *Index) Search(ctx context.Context, org uuid.UUID, scope resources.Scope, q resources.Query) ([]resources.Resource, error) {
	v, err := x.view(ctx, org, scope)
	if err != nil {
		return nil, err
	}
	w := v.visible("r")
	w.equal("r.type", q.Type)
	w.equal("r.provider", q.Provider)
	w.equal("r.state", string(q.State))
	if q.Source != "" {
		w.add("r.source = ?", numberOf(q.Source))
	}
	w.after(q.After)
	if len(q.Words) > 0 {
		w.add("r.id IN (SELECT rowid FROM search WHERE search MATCH ?)", match(v.org, q.Words))
	}
	for _, a := range q.Attributes {
		mark := attributeMark(a)
		w.add("r.id IN (SELECT resource FROM marks WHERE org = ? AND mark = ?)", v.org, mark[:])
	}
	return list(ctx, x, func(scan scan) (resources.Resource, error) { return scanResource(scan) },
		"SELECT "+resourceColumns+" FROM resources r WHERE "+w.text+" ORDER BY r.source, r.state, r.address LIMIT ?", append(w.args, q.Limit)...)
}

// view is what a caller may see of an organization.
type view struct {
	org     int64 // 0 for an unknown one
	all     bool  // states
	names   string
	uploads bool
}

// view settles which states are within the scope.
func (x *Index) view(ctx context.Context, org uuid.UUID, scope resources.Scope) (view, error) {
	v := view{all: scope.AnyState && scope.States == nil, names: "[]", uploads: scope.Uploads}
	err := x.readers().QueryRowContext(ctx, "SELECT id FROM orgs WHERE org = ?", org.String()).Scan(&v.org)
	if errors.Is(err, sql.ErrNoRows) {
		return v, nil
	}
	if err != nil || v.all || scope.States == nil {
		return v, x.fault(err)
	}
	names, err := list(ctx, x, func(scan scan) (name string, err error) { return name, scan(&name) },
		"SELECT state FROM holdings WHERE org = ? AND live = 1 AND state <> ''", v.org)
	if err != nil {
		return v, err
	}
	seen := []string{}
	for _, name := range names {
		if scope.States(name) {
			seen = append(seen, name)
		}
	}
	text, err := json.Marshal(seen)
	v.names = string(text)
	return v, err
}

// list runs a query and returns what one makes of each row.
func list[T any](ctx context.Context, x *Index, one func(scan) (T, error), query string, args ...any) ([]T, error) {
	rows, err := x.readers().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, x.fault(err)
	}
	defer func() { _ = rows.Close() }() // what it could say, Err says
	var all []T
	for rows.Next() {
		value, err := one(rows.Scan)
		if err != nil {
			return nil, x.unreadable(err)
		}
		all = append(all, value)
	}
	return all, x.fault(rows.Err())
}

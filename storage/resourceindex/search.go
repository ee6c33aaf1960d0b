package resourceindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
)

// Search implements resources.Finder. What a query asks for that few resources have leads
// to them; else the inventory is looked through in the order of places.
func (x *Index) Search(ctx context.Context, org uuid.UUID, scope resources.Scope,
	q resources.Query) ([]resources.Resource, resources.Place, error) {
	f, known, err := x.find(ctx, org)
	if err != nil || !known {
		return nil, resources.Place{}, err
	}
	s := search{finding: f, scope: scope, q: q, where: whereOf(q), rest: stretchOf(scope, q.Source, q.State, q.After)}
	few, found, err := s.few(ctx)
	if err != nil {
		return nil, resources.Place{}, err
	}
	if found {
		return s.among(ctx, few)
	}
	return s.through(ctx)
}

// search is one call of Search.
type search struct {
	finding
	scope resources.Scope
	q     resources.Query
	where where
	rest  stretch
}

// whereOf is the condition that a resource r passes a query's filters; its place is
// another's business.
func whereOf(q resources.Query) where {
	var w where
	w.equal("r.type", q.Type)
	w.equal("r.provider", q.Provider)
	for _, p := range phrases(q.Words) {
		w.add("instr(r.text, ?) > 0", p.text())
	}
	for _, a := range q.Attributes {
		mark := attributeMark(a)
		w.add("EXISTS (SELECT 1 FROM marks m WHERE m.org = r.org AND m.mark = ? AND m.source = r.source AND "+
			"m.resource = r.id)", mark[:])
	}
	w.add("EXISTS (SELECT 1 FROM holdings h WHERE h.id = r.holding AND h.live = 1)")
	return w
}

// leads are queries that name the resources that have one thing that is asked for. Each
// reads no more rows of its index than it returns.
func (s search) leads() []where {
	var all []where
	lead := func(text string, args ...any) { all = append(all, where{text, args}) }
	for _, p := range phrases(s.q.Words) {
		for _, word := range p[:len(p)-1] {
			lead(`SELECT resource FROM words WHERE org = ? AND word = ?`, s.id, word)
		}
		last := p[len(p)-1]
		lead(`SELECT resource FROM words WHERE org = ? AND word >= ? AND word < ?`, s.id, last, last+behindAll)
	}
	for _, a := range s.q.Attributes {
		mark := attributeMark(a)
		lead(`SELECT resource FROM marks WHERE org = ? AND mark = ?`, s.id, mark[:])
	}
	if s.q.Type != "" {
		lead(`SELECT id FROM resources WHERE org = ? AND type = ?`, s.id, s.q.Type)
	}
	return all
}

// few returns the resources that have one thing that is asked for, if they are few.
func (s search) few(ctx context.Context) (ids []int64, found bool, err error) {
	for _, lead := range s.leads() {
		ids, err := fromTurn(ctx, s.finding, func(scan scan) (id int64, err error) { return id, scan(&id) },
			lead.text+` LIMIT ?`, append(lead.args, s.x.limits.few+1)...)
		if err != nil || len(ids) <= s.x.limits.few {
			slices.Sort(ids)
			return slices.Compact(ids), err == nil, err
		}
	}
	return nil, false, nil
}

// among looks for a page among a few resources.
func (s search) among(ctx context.Context, ids []int64) (found []resources.Resource, next resources.Place, err error) {
	few, err := json.Marshal(ids)
	if err != nil || len(ids) == 0 {
		return nil, next, err
	}
	query, args := sqlAmong+s.where.text+inOrder,
		append(append([]any{string(few)}, s.finding.within(s.rest)...), s.where.args...)
	p := page[resources.Resource]{limit: s.q.Limit}
	err = s.turn(ctx, func(ctx context.Context, db *sql.DB) error { return s.visible(ctx, db, &p, query, args) })
	return s.cut(p, next, err)
}

// through looks for a page in the whole inventory.
func (s search) through(ctx context.Context) (found []resources.Resource, next resources.Place, err error) {
	p := page[resources.Resource]{limit: s.q.Limit}
	w := s.walk(s.scope, s.rest, s.x.limits.look)
	for w.more() && !p.full {
		err := w.piece(ctx, func(ctx context.Context, db *sql.DB, part stretch) error {
			return s.visible(ctx, db, &p, sqlThrough+s.where.text+inOrder, append(s.finding.within(part), s.where.args...))
		})
		if err != nil {
			return nil, next, err
		}
	}
	return s.cut(p, w.next(), nil)
}

// visible reads the resources that the caller may see, until the page is full. The others are
// passed over here: a scope is a function.
func (s search) visible(ctx context.Context, db *sql.DB, p *page[resources.Resource], query string, args []any) error {
	return each(ctx, s.x, db, func(scan scan) (resources.Resource, error) { return scanResource(scan) },
		func(one resources.Resource) bool {
			shown := one.Source == resources.FromUpload || s.scope.States == nil || s.scope.States(string(one.State))
			return !shown || p.add(one, one.Bytes())
		}, query, args...)
}

// cut returns a page; next is where to go on if it is not full.
func (s search) cut(p page[resources.Resource], next resources.Place,
	err error) ([]resources.Resource, resources.Place, error) {
	if err != nil {
		return nil, resources.Place{}, err
	}
	if p.full {
		next = p.found[len(p.found)-1].Place
	}
	return p.found, next, nil
}

// The order of CROSS JOIN is SQLite's too.
const (
	sqlAmong = `SELECT ` + resourceColumns + ` FROM json_each(?) few CROSS JOIN resources r NOT INDEXED ON r.id = few.value
		WHERE ` + within + ` AND `
	sqlThrough = `SELECT ` + resourceColumns + ` FROM resources r INDEXED BY resources_place WHERE ` + within + ` AND `
	inOrder    = ` ORDER BY r.source, r.state, r.address`
)

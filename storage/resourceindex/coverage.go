package resourceindex

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
)

// These say how a resource r compares with others, o, by the marks of both: i is r's, j
// is o's. VISIBLE is filled in with the condition that the caller may see o. CROSS JOIN keeps
// SQLite to this order: from one resource over its few marks to the others. The + keeps it
// from looking through all states' resources instead of a stretch.
const (
	// partners are others with the same mark, of the other source.
	partners = `marks i CROSS JOIN marks j ON j.org = i.org AND j.mark = i.mark AND j.source = 1 - r.source
		CROSS JOIN resources o ON o.id = j.resource WHERE i.resource = r.id AND i.kind IN ('i', 'e', 'h') AND o.counts = 1 AND VISIBLE`
	certain = `(i.kind = j.kind AND i.kind <> 'h')`
	// alone says that of each source one resource has the mark. Three are enough to know.
	alone = `(SELECT count(*) = 2 AND sum(source) = 1 FROM (SELECT o.source FROM marks k CROSS JOIN resources o ON o.id = k.resource
		WHERE k.org = i.org AND k.mark = i.mark AND o.counts = 1 AND VISIBLE LIMIT 3))`

	matched  = `EXISTS (SELECT 1 FROM ` + partners + ` AND (` + certain + ` OR ` + alone + `))`
	touched  = `EXISTS (SELECT 1 FROM ` + partners + `)`
	hasLane  = `EXISTS (SELECT 1 FROM marks i WHERE i.resource = r.id AND i.kind = 'l')`
	reported = `EXISTS (SELECT 1 FROM marks i CROSS JOIN marks j ON j.org = i.org AND j.mark = i.mark AND j.source = 1
		CROSS JOIN resources o ON o.id = j.resource WHERE i.resource = r.id AND i.kind = 'l' AND o.counts = 1 AND VISIBLE)`
	rivals = `marks i CROSS JOIN marks j ON j.org = i.org AND j.mark = i.mark AND j.source = 0 AND j.kind = 'i' AND j.resource <> r.id
		CROSS JOIN resources o ON o.id = j.resource WHERE i.resource = r.id AND i.kind = 'i' AND o.counts = 1 AND VISIBLE`

	twice  = `(+r.source = 0 AND EXISTS (SELECT 1 FROM ` + rivals + `))`
	status = `CASE WHEN ` + matched + ` THEN 'managed' WHEN ` + touched + ` THEN 'unmatched'
		WHEN r.source = 1 THEN iif(` + hasLane + `, 'unmanaged', 'unmatched')
		ELSE iif(` + reported + `, 'missing', 'unmatched') END`
)

// comparison is one call that compares a caller's resources, as conditions whose arguments
// have names, because they occur many times.
type comparison struct {
	finding
	visible string // of o
	own     string // the same of r
	wanted  string // of r
	args    []any
}

// compare takes what the query selects.
func (f finding) compare(ctx context.Context, scope resources.Scope, q resources.CoverageQuery) (comparison, error) {
	names, err := f.names(ctx, scope)
	visible := func(table string) string {
		return table + `.org = @org AND (CASE ` + table + `.source WHEN 0 THEN @all OR ` + table +
			`.state IN (SELECT value FROM json_each(@names))
			ELSE @uploads AND ` + table + `.at >= @since END)
			AND EXISTS (SELECT 1 FROM holdings WHERE holdings.id = ` + table + `.holding AND holdings.live = 1)`
	}
	return comparison{
		finding: f,
		visible: visible("o"),
		own:     visible("r"),
		wanted: sqlStretch + ` AND r.counts = 1 AND ` + visible("r") +
			` AND (@type = '' OR r.type = @type) AND (@provider = '' OR r.provider = @provider)
			AND (@state = '' OR r.state = @state)`,
		args: []any{
			sql.Named("org", f.id), sql.Named("all", scope.AnyState && scope.States == nil), sql.Named("names", names),
			sql.Named("uploads", scope.Uploads),
			sql.Named("since", micros(q.Since)), sql.Named("type", q.Type), sql.Named("provider", q.Provider),
			sql.Named("state", string(q.State)),
		},
	}, err
}

// names lists the states that a caller may see who may not see all. What others may count
// for is in any of them, so that all of their names are needed.
func (f finding) names(ctx context.Context, scope resources.Scope) (string, error) {
	seen := []string{}
	for after, more := "", scope.AnyState && scope.States != nil; more; {
		names, err := f.namesBehind(ctx, after)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if after = name; scope.States(name) {
				seen = append(seen, name)
			}
		}
		more = len(names) == f.x.limits.piece
	}
	text, err := json.Marshal(seen)
	return string(text), err
}

// namesBehind lists the names of states behind one, a piece of them.
func (f finding) namesBehind(ctx context.Context, name string) ([]string, error) {
	return fromTurn(ctx, f, func(scan scan) (name string, err error) { return name, scan(&name) }, sqlNames, f.id, name,
		f.x.limits.piece)
}

const sqlNames = `SELECT state FROM holdings INDEXED BY holdings_live WHERE org = ? AND live = 1 AND state > ? ORDER BY state LIMIT ?`

// sqlStretch is within with names.
const sqlStretch = `r.org = @org AND (r.source, r.state, r.address) > (@afterSource, @afterState, @afterAddress)
	AND (r.source, r.state, r.address) <= (@toSource, @toState, @toAddress)`

// in are the arguments for a stretch.
func (c comparison) in(s stretch, more ...any) []any {
	args := append(c.args[:len(c.args):len(c.args)],
		sql.Named("afterSource", s.after.source), sql.Named("afterState", s.after.state),
		sql.Named("afterAddress", s.after.address),
		sql.Named("toSource", s.to.source), sql.Named("toState", s.to.state), sql.Named("toAddress", s.to.address))
	return append(args, more...)
}

// fill puts the caller's view into a condition.
func (c comparison) fill(condition string) string { return filled(condition, c.visible) }

// Count implements resources.Finder. It has to look at all that it counts, piece by piece: a
// count under way sees some of what is changed meanwhile.
func (x *Index) Count(ctx context.Context, org uuid.UUID, scope resources.Scope,
	q resources.CoverageQuery) (resources.Counts, error) {
	counts := resources.Counts{}
	f, known, err := x.find(ctx, org)
	if err != nil || !known {
		return counts, err
	}
	c, err := f.compare(ctx, scope, q)
	if err != nil {
		return nil, err
	}
	query := c.countQuery()
	w := f.walk(scope, stretchOf(scope, "", q.State, resources.Place{}), -1)
	for w.more() {
		err := w.piece(ctx, func(ctx context.Context, db *sql.DB, part stretch) error {
			numbers, err := list(ctx, x, db, scanNumber, query, c.in(part)...)
			for _, n := range numbers {
				counts.Add(n.source, n.status, n.number)
				counts.Add(n.source, resources.ClaimedTwice, n.claimed)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func (c comparison) countQuery() string {
	return `SELECT r.source, ` + c.fill(status) + ` AS status, count(*), sum(` + c.fill(twice) +
		`) FROM resources r INDEXED BY resources_place
		WHERE ` + c.wanted + ` GROUP BY r.source, status`
}

// number is how many resources of a piece have a status.
type number struct {
	source          resources.Source
	status          resources.Status
	number, claimed int64
}

func scanNumber(scan scan) (n number, err error) {
	var source int64
	err = scan(&source, &n.status, &n.number, &n.claimed)
	n.source = sourceOf(source)
	return n, err
}

// Coverage implements resources.Finder.
func (x *Index) Coverage(ctx context.Context, org uuid.UUID, scope resources.Scope,
	q resources.CoverageQuery) (found []resources.Covered, next resources.Place, err error) {
	f, known, err := x.find(ctx, org)
	if err != nil || !known {
		return nil, next, err
	}
	c, err := f.compare(ctx, scope, q)
	if err != nil {
		return nil, next, err
	}
	query := c.listQuery(q.Status)
	p := page[resources.Covered]{limit: q.Limit}
	w := f.walk(scope, stretchOf(scope, "", q.State, q.After), x.limits.look)
	for w.more() && !p.full {
		err := w.piece(ctx, func(ctx context.Context, db *sql.DB, part stretch) error {
			return each(ctx, x, db, scanCovered, func(one resources.Covered) bool { return p.add(one, one.Bytes()) }, query,
				c.in(part, sql.Named("status", string(q.Status)), sql.Named("limit", q.Limit+1-len(p.found)),
					sql.Named("others", resources.MaxOthers))...)
		})
		if err != nil {
			return nil, next, err
		}
	}
	if p.full {
		return p.found, p.found[len(p.found)-1].Place, nil
	}
	return p.found, w.next(), nil
}

func (c comparison) listQuery(wanted resources.Status) string {
	condition, others := c.fill(`(`+status+`) = @status`), partners+` AND (`+certain+` OR `+alone+`)`
	if wanted == resources.ClaimedTwice {
		condition, others = c.fill(twice), rivals
	}
	return `SELECT ` + resourceColumns + `,
		(SELECT json_group_array(json_array(source, state, address)) FROM
			(SELECT DISTINCT o.source, o.state, o.address FROM ` + c.fill(others) + ` ORDER BY o.state, o.address LIMIT @others))
		FROM resources r INDEXED BY resources_place WHERE ` + c.wanted + ` AND ` + condition + inOrder + ` LIMIT @limit`
}

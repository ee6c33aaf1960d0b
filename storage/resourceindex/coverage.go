package resourceindex

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
)

// These say how a resource r compares with others, o, by the marks of both: i is r's, j
// is o's. VISIBLE is filled in with the condition that the caller may see o. CROSS JOIN keeps
// SQLite to this order: from one resource over its few marks to the others.
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

	twice  = `(r.source = 0 AND EXISTS (SELECT 1 FROM ` + rivals + `))`
	status = `CASE WHEN ` + matched + ` THEN 'managed' WHEN ` + touched + ` THEN 'unmatched'
		WHEN r.source = 1 THEN iif(` + hasLane + `, 'unmanaged', 'unmatched')
		ELSE iif(` + reported + `, 'missing', 'unmatched') END`
)

// comparison is the view of a caller as coverage needs it: as conditions whose arguments
// have names, because they occur many times.
type comparison struct {
	visible string // of o
	wanted  string // of r
	args    []any
}

// compare takes what the query selects.
func (v view) compare(q resources.CoverageQuery) comparison {
	visible := func(table string) string {
		return table + `.org = @org AND (CASE ` + table + `.source WHEN 0 THEN @all OR ` + table + `.state IN (SELECT value FROM json_each(@names))
			ELSE @uploads AND ` + table + `.at >= @since END)
			AND EXISTS (SELECT 1 FROM holdings WHERE holdings.id = ` + table + `.holding AND holdings.live = 1)`
	}
	return comparison{
		visible: visible("o"),
		wanted: `r.counts = 1 AND ` + visible("r") + ` AND (@type = '' OR r.type = @type) AND (@provider = '' OR r.provider = @provider)
			AND (@state = '' OR r.state = @state)`,
		args: []any{
			sql.Named("org", v.org), sql.Named("all", v.all), sql.Named("names", v.names), sql.Named("uploads", v.uploads),
			sql.Named("since", micros(q.Since)), sql.Named("type", q.Type), sql.Named("provider", q.Provider), sql.Named("state", string(q.State)),
		},
	}
}

// fill puts the caller's view into a condition.
func (c comparison) fill(condition string) string { return filled(condition, c.visible) }

// Count implements resources.Finder.
func (x *Index) Count(ctx context.Context, org uuid.UUID, scope resources.Scope, q resources.CoverageQuery) (resources.Counts, error) {
	v, err := x.view(ctx, org, scope)
	if err != nil {
		return nil, err
	}
	c, counts := v.compare(q), resources.Counts{}
	_, err = list(ctx, x, func(scan scan) (none struct{}, err error) {
		var source, number, claimed int64
		var status resources.Status
		if err := scan(&source, &status, &number, &claimed); err != nil {
			return none, err
		}
		counts.Add(sourceOf(source), status, number)
		counts.Add(sourceOf(source), resources.ClaimedTwice, claimed)
		return none, nil
	}, `SELECT r.source, `+c.fill(status)+` AS status, count(*), sum(`+c.fill(twice)+`) FROM resources r WHERE `+c.wanted+`
		GROUP BY r.source, status`, c.args...)
	return counts, err
}

// Coverage implements resources.Finder.
func (x *Index) Coverage(ctx context.Context, org uuid.UUID, scope resources.Scope, q resources.CoverageQuery) ([]resources.Covered, error) {
	v, err := x.view(ctx, org, scope)
	if err != nil {
		return nil, err
	}
	c := v.compare(q)
	condition, others := c.fill(`(`+status+`) = @status`), partners+` AND (`+certain+` OR `+alone+`)`
	if q.Status == resources.ClaimedTwice {
		condition, others = c.fill(twice), rivals
	}
	args := append(c.args, sql.Named("status", string(q.Status)), sql.Named("limit", q.Limit), sql.Named("others", resources.MaxOthers),
		sql.Named("after", q.After != resources.Place{}), sql.Named("afterSource", numberOf(q.After.Source)),
		sql.Named("afterState", string(q.After.State)), sql.Named("afterAddress", q.After.Address))
	return list(ctx, x, scanCovered, `SELECT `+resourceColumns+`,
		(SELECT json_group_array(json_array(source, state, address)) FROM
			(SELECT DISTINCT o.source, o.state, o.address FROM `+c.fill(others)+` ORDER BY o.state, o.address LIMIT @others))
		FROM resources r WHERE `+c.wanted+` AND (NOT @after OR (r.source, r.state, r.address) > (@afterSource, @afterState, @afterAddress))
		AND `+condition+` ORDER BY r.source, r.state, r.address LIMIT @limit`, args...)
}

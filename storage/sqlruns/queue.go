package sqlruns

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// place is where in an organization's queues a run is.
type place struct {
	pool     string
	priority int64
}

// queues are places from which runs may have come or gone.
type queues map[place]bool

// add adds the places of a run's old and its new form, unless it stays where it is.
func (q queues) add(was, next runs.Run) {
	before, after := placeOf(was), placeOf(next)
	if was.Status.Claimable() && (!next.Status.Claimable() || before != after) {
		q[before] = true
	}
	if next.Status.Claimable() && (!was.Status.Claimable() || before != after) {
		q[after] = true
	}
}

func placeOf(r runs.Run) place { return place{r.Pool, int64(r.Priority)} }

// enqueue notes of these places whether there are runs that may be claimed.
func (t tx) enqueue(touched queues) error {
	const query = `SELECT EXISTS (SELECT 1 FROM runs WHERE queue = ? AND org = ? AND priority = ?),
		EXISTS (SELECT 1 FROM run_queues WHERE pool = ? AND org = ? AND priority = ?)`
	for in := range touched {
		var there, noted bool
		_, err := sqldb.One(t, []any{&there, &noted}, query, in.pool, t.org, in.priority, in.pool, t.org, in.priority)
		switch {
		case err != nil:
		case there && !noted:
			err = t.exec("INSERT INTO run_queues (pool, org, priority) VALUES (?, ?, ?)", in.pool, t.org, in.priority)
		case !there && noted:
			err = t.exec("DELETE FROM run_queues WHERE pool = ? AND org = ? AND priority = ?", in.pool, t.org, in.priority)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeTurn makes the organization the last that has claimed from a pool.
func (t tx) takeTurn(pool string) error {
	var last int64
	if _, err := sqldb.One(t, []any{&last}, "SELECT turn FROM run_turns WHERE pool = ? ORDER BY turn DESC LIMIT 1", pool); err != nil {
		return err
	}
	return t.exec(t.Dialect().Upsert("run_turns", []string{"pool", "org"}, []string{"turn"}), pool, t.org, last+1)
}

// head is the first of an organization's runs of a priority that may be claimed.
type head struct {
	org            string
	priority, turn int64
	id             string
}

func scanHead(r *sql.Rows) (h head, err error) {
	return h, r.Scan(&h.org, &h.priority, &h.turn, &h.id)
}

// Claimable implements runs.Store. Of the first runs, each is of an organization and priority
// whose own first run is among the first of those: so these are looked for before.
func (s *Store) Claimable(ctx context.Context, q runs.ClaimQuery) (found []runs.Ref, err error) {
	if q.Orgs != nil && len(q.Orgs) == 0 || q.Limit <= 0 {
		return nil, nil
	}
	err = s.db.Read(ctx, uuid.Nil, func(db sqldb.Querier) error {
		heads, err := headsOf(db, q)
		if err != nil {
			return err
		}
		found, err = behind(db, q, heads)
		return err
	})
	return found, err
}

func headsOf(db sqldb.Querier, q runs.ClaimQuery) ([]head, error) {
	text := `SELECT h.org, h.priority, h.turn, h.id FROM (
		SELECT q.org AS org, q.priority AS priority, COALESCE(t.turn, 0) AS turn, (
			SELECT r.id FROM runs r WHERE r.queue = q.pool AND r.org = q.org AND r.priority = q.priority AND r.not_before <= ? ORDER BY r.id LIMIT 1
		) AS id
		FROM run_queues q LEFT JOIN run_turns t ON t.pool = q.pool AND t.org = q.org WHERE q.pool = ?`
	args := []any{q.Now.UnixMicro(), q.Pool}
	if q.Orgs != nil {
		text += " AND q.org IN (" + sqldb.Places(len(q.Orgs)) + ")"
		for _, org := range q.Orgs {
			args = append(args, org.String())
		}
	}
	text += ") h WHERE h.id IS NOT NULL ORDER BY h.priority, h.turn, h.id LIMIT ?"
	return sqldb.All(db, scanHead, text, append(args, q.Limit)...)
}

// behind returns the heads with the runs behind them, in their order, up to the limit.
func behind(db sqldb.Querier, q runs.ClaimQuery, heads []head) (found []runs.Ref, err error) {
	for len(heads) > 0 && len(found) < q.Limit {
		// Organizations of one turn, as those that have never claimed, are told apart by their runs.
		equal := 1
		for equal < len(heads) && heads[equal].priority == heads[0].priority && heads[equal].turn == heads[0].turn {
			equal++
		}
		group, err := merged(db, q, heads[:equal], q.Limit-len(found))
		if err != nil {
			return nil, err
		}
		found, heads = append(found, group...), heads[equal:]
	}
	return found, nil
}

// headsAtOnce is how many organizations one query asks for: SQLite takes 500 parts.
const headsAtOnce = 100

// merged returns the first runs of several organizations, the smallest ID first.
func merged(db sqldb.Querier, q runs.ClaimQuery, heads []head, limit int) (all []runs.Ref, err error) {
	const one = `SELECT org, id FROM (
		SELECT org, id FROM runs WHERE queue = ? AND org = ? AND priority = ? AND not_before <= ? ORDER BY id LIMIT ?) part`
	for some := range slices.Chunk(heads, headsAtOnce) {
		var args []any
		for _, h := range some {
			args = append(args, q.Pool, h.org, h.priority, q.Now.UnixMicro(), limit)
		}
		text := one + strings.Repeat(" UNION ALL "+one, len(some)-1) + " ORDER BY id LIMIT ?"
		found, err := sqldb.All(db, scanRef, text, append(args, limit)...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b runs.Ref) int { return cmp.Compare(a.ID, b.ID) })
	return all[:min(len(all), limit)], nil
}

// Position implements runs.Store. Nobody is before a run that waits in no line.
func (s *Store) Position(ctx context.Context, run runs.Run) (ahead int, holder string, err error) {
	err = s.db.Read(ctx, run.Org, func(db sqldb.Querier) error {
		org := run.Org.String()
		if _, err := sqldb.One(db, []any{&holder}, "SELECT holder FROM run_lines WHERE org = ? AND workspace = ?", org, run.Workspace); err != nil || !waits(run) {
			return err
		}
		const query = `SELECT (SELECT COUNT(*) FROM runs WHERE org = ? AND line = ? AND priority < ?) +
			(SELECT COUNT(*) FROM runs WHERE org = ? AND line = ? AND priority = ? AND id < ?)`
		priority := int64(run.Priority)
		_, err := sqldb.One(db, []any{&ahead}, query, org, run.Workspace, priority, org, run.Workspace, priority, run.ID)
		return err
	})
	return ahead, holder, err
}

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

// add adds the places of a run's old and its new form, unless it stays where it is as it is.
func (q queues) add(was, next runs.Run) {
	if was.Status.Claimable() && next.Status.Claimable() && placeOf(was) == placeOf(next) &&
		was.NotBefore.Equal(next.NotBefore) {
		return
	}
	if was.Status.Claimable() {
		q[placeOf(was)] = true
	}
	if next.Status.Claimable() {
		q[placeOf(next)] = true
	}
}

func placeOf(r runs.Run) place { return place{r.Pool, int64(r.Priority)} }

// enqueue notes of these places which run is the first of those that may be claimed, and when.
func (t tx) enqueue(touched queues) error {
	const query = `SELECT id, not_before FROM runs WHERE queue = ? AND org = ? AND priority = ? ORDER BY id LIMIT 1`
	for in := range touched {
		var first string
		var ready int64
		there, err := sqldb.One(t, []any{&first, &ready}, query, in.pool, t.org, in.priority)
		switch {
		case err != nil:
		case there:
			err = t.exec(t.Dialect().Upsert("run_queues", []string{"pool", "org", "priority"}, []string{"first_id", "ready"}),
				in.pool, t.org, in.priority, first, ready)
		default:
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
	return t.exec("INSERT INTO run_turns (pool, org, turn) SELECT ?, ?, COALESCE(MAX(l.turn), 0) + 1 FROM run_turns l "+
		"WHERE l.pool = ?"+t.Dialect().OrSet("pool, org", "turn"), pool, t.org, pool)
}

// head is the first of an organization's runs of a priority that may be claimed.
type head struct {
	org            uuid.UUID
	priority, turn int64
	id             string
}

func scanHead(r *sql.Rows) (h head, err error) {
	var org string
	if err := r.Scan(&org, &h.priority, &h.turn, &h.id); err != nil {
		return head{}, err
	}
	h.org, err = uuid.Parse(org)
	return h, err
}

// Claimable implements runs.Store. Of the first runs, each is of an organization and priority
// whose own first run is among the first of those: so these are looked for before.
func (s *Store) Claimable(ctx context.Context, q runs.ClaimQuery) (found []runs.Ref, err error) {
	if q.Orgs != nil && len(q.Orgs) == 0 || q.Limit <= 0 {
		return nil, nil
	}
	// What one statement finds may be gone by the next, as it may be by the time that it is claimed.
	err = s.db.Ask(ctx, uuid.Nil, func(db sqldb.Querier) error {
		heads, err := headsOf(db, q)
		if err == nil && q.Limit == 1 && len(heads) == 1 {
			found = []runs.Ref{{Org: heads[0].org, ID: heads[0].id}}
			return nil
		}
		if err == nil {
			found, err = behind(db, q, heads)
		}
		return err
	})
	return found, err
}

func headsOf(db sqldb.Querier, q runs.ClaimQuery) ([]head, error) {
	// The first run of a queue may have to wait while another one need not: only then the queue is read.
	text := `SELECT h.org, h.priority, h.turn, h.id FROM (
		SELECT q.org AS org, q.priority AS priority, COALESCE(t.turn, 0) AS turn, CASE WHEN q.ready <= ? THEN q.first_id ELSE (
			SELECT r.id FROM runs r WHERE r.queue = q.pool AND r.org = q.org AND r.priority = q.priority AND r.not_before <= ? ORDER BY r.id LIMIT 1
		) END AS id
		FROM run_queues q LEFT JOIN run_turns t ON t.pool = q.pool AND t.org = q.org WHERE q.pool = ?`
	args := []any{q.Now.UnixMicro(), q.Now.UnixMicro(), q.Pool}
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
			args = append(args, q.Pool, h.org.String(), h.priority, q.Now.UnixMicro(), limit)
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
	org := run.Org.String()
	held := func(db sqldb.Querier) error {
		_, err := sqldb.One(db, []any{&holder}, "SELECT holder FROM run_lines WHERE org = ? AND workspace = ?", org,
			run.Workspace)
		return err
	}
	if !waits(run) { // as after every write of a state: one statement needs no transaction
		err = s.db.Ask(ctx, run.Org, held)
		return 0, holder, err
	}
	err = s.db.Read(ctx, run.Org, func(db sqldb.Querier) error {
		if err := held(db); err != nil {
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

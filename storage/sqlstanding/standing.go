// Package sqlstanding counts what there is of runs, agents, layers, repositories and pull requests, over all
// organizations, for whoever watches a server.
package sqlstanding

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// Count counts at a moment. What it costs grows with the runs that have not ended, and with the layers, repositories
// and pull requests.
func Count(ctx context.Context, db *sqldb.DB, now time.Time) (s vitals.Standing, err error) {
	s.Layers = map[string]int{}
	seen := now.Add(-runs.AgentSilence).UnixMicro()
	in := db.Dialect()
	failures, trouble := in.Member("status", "failures"), in.Member("body", "Trouble")
	openPulls := "pull_requests WHERE " + in.Member("body", "Closed") + " IS NULL"
	err = db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) error {
		s.Runs, err = sqldb.All(q, scanRuns, "SELECT status, kind, COUNT(*), MIN(id) FROM runs WHERE open IS NOT NULL "+
			"GROUP BY status, kind ORDER BY status, kind")
		if err != nil {
			return err
		}
		for _, count := range []struct {
			into  *int
			query string
			args  []any
		}{
			{&s.AgentsAlive, "run_agents a WHERE " + alive, []any{seen}},
			{&s.AgentsSilent, "run_agents a WHERE NOT (" + alive + ") AND NOT (" + in.Contains("a.body") + ")",
				[]any{seen, []byte(drained)}},
			{&s.PoolsServed, "run_pools p WHERE EXISTS (" + agentOfPool + ")", []any{seen}},
			{&s.PoolsUnserved, "run_pools p WHERE NOT EXISTS (" + agentOfPool + ")", []any{seen}},
			{&s.Failed, sqlruns.InTrouble(in), []any{string(runs.TroubleFailed)}},
			{&s.Drifted, sqlruns.InTrouble(in), []any{string(runs.TroubleDrift)}},
			{&s.RepositoriesFetched, "repositories WHERE tried_at > 0 AND " + failures + " IS NULL", nil},
			{&s.RepositoriesFailing, "repositories WHERE " + failures + " IS NOT NULL", nil},
			{&s.PullsFine, openPulls + " AND " + trouble + " IS NULL", nil},
			{&s.PullsTroubled, openPulls + " AND " + trouble + " IS NOT NULL", nil},
		} {
			if err := q.QueryRow("SELECT COUNT(*) FROM "+count.query, count.args...).Scan(count.into); err != nil {
				return err
			}
		}
		_, err := sqldb.All(q, layersIn(s.Layers), "SELECT COALESCE("+in.Member("document", "State")+", ''), COUNT(*) FROM "+
			"layers GROUP BY 1")
		return err
	})
	return s, err
}

const (
	// alive is an agent that has asked for work, or has some.
	alive = "(a.seen >= ? OR EXISTS (SELECT 1 FROM runs r WHERE r.org = a.org AND r.agent = a.id))"
	// drained is in the body of an agent that has ended in order.
	drained     = `"Draining":true`
	agentOfPool = "SELECT 1 FROM run_agents a WHERE a.org = p.org AND a.pool = p.name AND " + alive
)

func scanRuns(r *sql.Rows) (found vitals.Runs, err error) {
	var oldest string
	if err := r.Scan(&found.Status, &found.Kind, &found.Count, &oldest); err != nil {
		return found, err
	}
	var millis int64
	for _, digit := range oldest[:min(10, len(oldest))] { // a ULID begins with its time
		millis = millis<<5 + int64(strings.IndexRune("0123456789ABCDEFGHJKMNPQRSTVWXYZ", digit))
	}
	found.Oldest = time.UnixMilli(millis)
	return found, nil
}

// layersIn counts layers by their states.
func layersIn(by map[string]int) func(*sql.Rows) (struct{}, error) {
	return func(r *sql.Rows) (struct{}, error) {
		var state string
		var count int
		err := r.Scan(&state, &count)
		by[strings.Trim(state, `"`)] += count // MySQL leaves quotation marks around a text of JSON
		return struct{}{}, err
	}
}

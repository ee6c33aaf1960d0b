package sqlstanding_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/internal/vitals"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlstanding"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

func TestCount(t *testing.T) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) { count(t, o) })
}

func count(t *testing.T, o sqldb.Options) {
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { suite.Close(t, db) })
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	if got, err := sqlstanding.Count(t.Context(), db, now); err != nil ||
		!reflect.DeepEqual(got, vitals.Standing{Layers: map[string]int{}}) {
		t.Fatalf("of nothing: %+v, %v", got, err)
	}
	org := uuid.New()
	const run = "INSERT INTO runs (org, id, revision, events, workspace, kind, status, pool, priority, not_before, open, agent, " +
		"body) VALUES (?, ?, 1, 1, 'w', ?, ?, '', 0, 0, ?, ?, ?)"
	const agent = "INSERT INTO run_agents (id, org, pool, seen, body) VALUES (?, ?, ?, ?, ?)"
	const pool = "INSERT INTO run_pools (org, name, token_hash, body) VALUES (?, ?, ?, ?)"
	drained, err := json.Marshal(runs.Agent{ID: "drained", Draining: true})
	if err != nil {
		t.Fatal(err)
	}
	const trouble = "INSERT INTO run_troubles (org, workspace, trouble, run, ended) VALUES (?, ?, ?, 'r', 0)"
	const layer = "INSERT INTO layers (org, name, repository, revision, due_at, checking, document) VALUES (?, ?, 'i', 1, 0, 0, ?)"
	const repository = "INSERT INTO repositories (org, name, id, status, tried_at, settings, revision, created_at, " +
		"updated_at, updated_by, due_at, hints, claim, claim_until, sealed) VALUES (?, ?, ?, ?, ?, '{}', 1, 0, 0, '{}', 0, 0, '', 0, ?)"
	const pull = "INSERT INTO pull_requests (org, repository, number, due, hints, claim, claimed, revision, body) " +
		"VALUES (?, 'i', ?, 0, 0, '', 0, 1, ?)"
	me, fresh, old := org.String(), now.Add(-time.Minute).UnixMicro(), now.Add(-time.Hour).UnixMicro()
	const first, second = "01KB571000AAAAAAAAAAAAAAAA", "01KB572000AAAAAAAAAAAAAAAA"
	err = db.Write(t.Context(), org, func(tx sqldb.Tx) error {
		for _, row := range [][]any{
			{run, me, second, "apply", "pending", "w", nil}, {run, me, first, "apply", "pending", "w", nil},
			{run, me, "01KB573000AAAAAAAAAAAAAAAA", "drift", "planning", "w", "busy"},
			{run, me, "01KB570000AAAAAAAAAAAAAAAA", "apply", "failed", nil, nil},
			{agent, "busy", me, "eu", old}, {agent, "idle", me, "eu", fresh}, {agent, "lost", me, "us", old},
			{agent, "drained", me, "us", old, drained},
			{pool, me, "eu", []byte("1")}, {pool, me, "us", []byte("2")}, {pool, me, "none", []byte("3")},
			{trouble, me, "a", "failed"}, {trouble, me, "a", "drift"}, {trouble, me, "b", "drift"},
			{trouble, me, "expected", "drift"}, {trouble, me, "later", "drift"},
			{layer, me, "a", `{"State":"Idle"}`}, {layer, me, "b", `{"State":"MaxRetriesReached"}`}, {layer, me, "c", `{"State":"Idle"}`},
			// Its report has nothing that nobody expects; that of the other one is of an older run.
			{layer, me, "expected", `{"State":"Idle","Facts":{"Drift":{"Run":"r"}}}`},
			{layer, me, "later", `{"State":"Idle","Facts":{"Drift":{"Run":"q"}}}`},
			{repository, me, "a", "1", `{"tried":"x"}`, 1}, {repository, me, "b", "2", `{"failures":3}`, 1}, {repository, me, "c", "3", `{}`, 0},
			{pull, me, 1, `{"SeenAt":""}`}, {pull, me, 2, `{"Trouble":"x"}`}, {pull, me, 3, `{"Closed":true,"Trouble":"x"}`},
		} {
			if len(row)-1 < strings.Count(row[0].(string), "?") { // a body, the last, that nobody looks at
				row = append(row, []byte("{}"))
			}
			if _, err := tx.Exec(row[0].(string), row[1:]...); err != nil {
				t.Errorf("%v: %v", row, err)
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := sqlstanding.Count(t.Context(), db, now)
	for i := range got.Runs {
		if at := got.Runs[i].Oldest; at.Year() != 2025 {
			t.Errorf("the oldest is of %v", at)
		}
		got.Runs[i].Oldest = time.Time{}
	}
	want := vitals.Standing{
		Runs: []vitals.Runs{
			{Status: "pending", Kind: "apply", Count: 2}, {Status: "planning", Kind: "drift", Count: 1},
		},
		AgentsAlive: 2, AgentsSilent: 1, PoolsServed: 1, PoolsUnserved: 2, Failed: 1, Drifted: 3,
		Layers:              map[string]int{"Idle": 4, "MaxRetriesReached": 1},
		RepositoriesFetched: 1, RepositoriesFailing: 1, PullsFine: 1, PullsTroubled: 1,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

package handlers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// limited is a server of runs with these limits, and one who orders them.
func limited(t *testing.T, limits runs.Limits) (*runworld.World, caller) {
	t.Helper()
	deps, _, _ := testDepsWithoutResources(t)
	world := runworld.New(t)
	of := world.Deps
	of.Limits = limits
	world.Service = runs.NewService(of)
	deps.Runs, deps.Verifier = world.Service, runKeys{testKeys(), world}
	return world, newCaller(t, startServer(t, deps), acme, acmeKey)
}

// executes asks with the token of a run.
func (c caller) executes(e *runworld.Executor, request, body string) answer {
	sum := sha256.Sum256([]byte(body))
	method, path, _ := strings.Cut(request, " ")
	return c.do(method+" /api/v1/runs/"+e.Run+path, body, "Authorization: Bearer "+e.Token, "X-Digest: "+
		hex.EncodeToString(sum[:]))
}

// What an organization has of runs ends at a limit, with a code of its own, and nothing of what is
// beyond that is kept.
func TestLimitsOnRuns(t *testing.T) {
	world, c := limited(t, runs.Limits{Waiting: 2, LogBytes: 100, FileBytes: 100, PlanBytes: 200, Lease: time.Hour})
	const order = `{"workspace":"x","kind":"plan"}`
	c.converse([]step{
		{"POST /api/v1/runs", order, 201, ""}, {"POST /api/v1/runs", order, 201, ""},
		{"POST /api/v1/runs", order, 409, "runs_full"},
	})
	if got := c.do("GET /api/v1/runs", ""); strings.Count(got.body, `"pending"`) != 2 {
		t.Errorf("runs: %s", got.body)
	}
	e := world.Claim(t, acme)
	c.converse([]step{{"POST /api/v1/runs", order, 201, ""}}) // one waits no more
	for _, test := range []struct {
		request string
		bytes   int
		status  int
		code    string
	}{
		{"PUT /log/plan/1?offset=0", 101, 413, "log_too_large"},
		{"PUT /log/plan/1?offset=0", 100, 200, `"end":100`},
		{"PUT /log/plan/1?offset=100", 1, 413, "log_too_large"},
		{"PUT /artefacts/lock_file/1", 101, 413, "body_too_large"},
		{"GET /artefacts/lock_file/1", 0, 404, "run_file_not_found"},
		{"PUT /artefacts/lock_file/1", 100, 200, ""},
		{"PUT /artefacts/lock_file/1", 99, 409, "file_mismatch"},
		{"PUT /artefacts/plan/1", 201, 413, "body_too_large"},
		{"GET /artefacts/plan/1", 0, 404, "run_file_not_found"},
	} {
		if got := c.executes(e, test.request, strings.Repeat("x", test.bytes)); got.status != test.status ||
			!strings.Contains(got.body, test.code) {
			t.Errorf("%s of %d bytes: %d %s; want %d %s", test.request, test.bytes, got.status, got.body, test.status, test.code)
		}
	}
}

// An organization whose logs and files take as much as they may begins no more runs. Those that it
// has go on.
func TestLimitOnStoredRuns(t *testing.T) {
	world, c := limited(t, runs.Limits{StoredBytes: 500, Lease: time.Hour})
	const order = `{"workspace":"x","kind":"plan"}`
	c.converse([]step{{"POST /api/v1/runs", order, 201, ""}})
	e := world.Claim(t, acme)
	for i := range 2 {
		e.Log(strings.Repeat("x", 300))
		if got := c.do("POST /api/v1/runs", order); i == 1 &&
			(got.status != 409 || !strings.Contains(got.body, "runs_full")) {
			t.Errorf("with %d bytes of logs: %d %s", 300*(i+1), got.status, got.body)
		}
	}
	e.Plan(1)
	if run, err := world.Get(t.Context(), owner, e.Run); err != nil || run.Status != runs.Succeeded {
		t.Errorf("the run is %s, %v", run.Status, err)
	}
}

// Pools and agents are bounded, too.
func TestLimitsOnPools(t *testing.T) {
	world, c := limited(t, runs.Limits{})
	for i := range 100 {
		c.converse([]step{{"POST /api/v1/pools", fmt.Sprintf(`{"name":"p%d"}`, i), 201, ""}})
	}
	c.converse([]step{
		{"POST /api/v1/pools", `{"name":"more"}`, 409, "runs_full"},
		{"POST /api/v1/pools/p1/rotate", "", 200, ""},
		{"DELETE /api/v1/pools/p0", "", 200, ""},
	})
	_, token, err := world.CreatePool(t.Context(), owner, "more", nil)
	if err != nil {
		t.Fatal(err)
	}
	const agents = 1000
	for range agents {
		if err := world.Store.PutAgent(t.Context(),
			runs.Agent{Org: acme, ID: uuid.NewString(), Pool: "more", Name: "host", SecretHash: []byte(uuid.NewString()),
				Seen: world.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	got := c.do("POST /api/v1/agents", `{"name":"one more"}`, "Authorization: Bearer "+token)
	if got.status != 409 || !strings.Contains(got.body, "runs_full") {
		t.Errorf("with %d agents: %d %s", agents, got.status, got.body)
	}
}

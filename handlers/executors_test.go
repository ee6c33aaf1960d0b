package handlers_test

import (
	"context"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/agenttest"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/internal/runworld"
)

// runKeys knows keys, and the tokens of a world's runs.
type runKeys struct {
	keys
	world *runworld.World
}

// Verify implements middleware.Verifier.
func (k runKeys) Verify(ctx context.Context, given auth.Credentials, client auth.Client) (auth.Principal, error) {
	if !auth.IsRunToken(given.Key) {
		return k.keys.Verify(ctx, given, client)
	}
	p, err := k.world.VerifyRun(ctx, given.Key)
	p.Address, p.Request = client.Address, client.Request
	return p, err
}

// runServer is a server that keeps runs.
func runServer(t *testing.T) (*runworld.World, *httptest.Server) {
	t.Helper()
	deps, _, _ := testDepsWithoutResources(t)
	world := runworld.New(t)
	deps.Runs, deps.Verifier = world.Service, runKeys{testKeys(), world}
	deps.Insights = insight.NewService(world.Service, nil, nil, time.Now)
	return world, startServer(t, deps)
}

// overHTTP is a world for the suite of those who execute runs.
type overHTTP struct {
	*runworld.World
	server agent.Server
	token  string
	runs   int
}

func (o *overHTTP) Server() agent.Server { return o.server }

func (o *overHTTP) PoolToken() string { return o.token }

var owner = auth.Principal{Org: acme, KeyID: "a1", Grant: auth.Grant{Role: auth.Owner}}

func (o *overHTTP) Queue(t *testing.T) string {
	o.runs++
	run, err := o.Create(t.Context(), owner,
		api.RunOrder{Workspace: "prod/network-" + strconv.Itoa(o.runs), Kind: "apply"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return run.ID
}

func (o *overHTTP) PlanFiles(*testing.T, api.Assignment) map[string][]byte {
	return runworld.PlanFiles(2)
}

func (o *overHTTP) Approve(t *testing.T, id string) {
	run, err := o.Get(t.Context(), owner, id)
	if err != nil || run.Pin == nil {
		t.Fatalf("the run is %s, %s: %v", run.Status, run.Reason, err)
	}
	if _, err := o.World.Approve(t.Context(), owner, id, api.Decision{Digest: run.Pin.Digest}); err != nil {
		t.Fatal(err)
	}
}

func (o *overHTTP) Expire(t *testing.T, _ string) { o.Later(t, time.Minute) }

func (o *overHTTP) Resolve(t *testing.T, run string) {
	if _, err := o.World.Resolve(t.Context(), owner, run, "its machine is gone"); err != nil {
		t.Fatal(err)
	}
}

func (o *overHTTP) Cancel(t *testing.T, run, level string) {
	if _, err := o.World.Cancel(t.Context(), owner, run, api.CancelOrder{Level: level}); err != nil {
		t.Fatal(err)
	}
}

// Those who execute runs are answered over HTTP as their contract says.
func TestExecutorsOverHTTP(t *testing.T) {
	agenttest.RunServer(t, func(t *testing.T) agenttest.World {
		world, server := runServer(t)
		world.Pool = "eu"
		_, token, err := world.CreatePool(t.Context(), owner, "eu", nil)
		if err != nil {
			t.Fatal(err)
		}
		return &overHTTP{World: world, server: remote.New(client.New(client.Options{Address: server.URL, Tries: 1})),
			token: token}
	})
}

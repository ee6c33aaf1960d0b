package handlers_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/runworld"
)

// maxOwnStreams is how many streams of logs an organization may have.
const maxOwnStreams = 200

// An organization may have many streams of logs open, but not so many that none is left for
// others.
func TestStreamsAreBounded(t *testing.T) {
	world, server := runServer(t)
	order := func(as auth.Principal) string {
		run, err := world.Create(t.Context(), as, api.RunOrder{Workspace: "a", Kind: "plan"}, "")
		if err != nil {
			t.Fatal(err)
		}
		return run.ID
	}
	theirs := auth.Principal{Org: globex, KeyID: "g1", Grant: auth.Grant{Role: auth.Owner}}
	path := "/api/v1/runs/" + order(owner) + "/log/stream"
	us, them := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	us.client.Transport = &http.Transport{}
	var open []*http.Response
	for i := range maxOwnStreams {
		got := us.open(path)
		if got.StatusCode != http.StatusOK {
			t.Fatalf("stream %d is answered with %d", i, got.StatusCode)
		}
		open = append(open, got)
	}
	if got := us.do("GET "+path, ""); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("one more is answered with %d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), got.body)
	}
	other := them.open("/api/v1/runs/" + order(theirs) + "/log/stream")
	if other.StatusCode != http.StatusOK {
		t.Errorf("a stream of another organization is answered with %d", other.StatusCode)
	}
	for _, one := range append(open, other) {
		_ = one.Body.Close()
	}
	for again := 0; again != http.StatusOK; { // the server hears of what was closed a little later
		got := us.open(path)
		again = got.StatusCode
		_ = got.Body.Close()
	}
}

// Who waits when the server stops is answered at once: those who read a log, who wait for work,
// and who renew a lease.
func TestWhoWaitsIsAnsweredWhenTheServerStops(t *testing.T) {
	deps, _, _ := testDepsWithoutResources(t)
	world, stopping := runworld.New(t), make(chan struct{})
	world.Pool = "eu"
	deps.Runs, deps.Verifier, deps.Stopping = world.Service, runKeys{testKeys(), world}, stopping
	server := startServer(t, deps)
	_, token, err := world.CreatePool(t.Context(), owner, "eu", nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	run, err := world.Create(t.Context(), owner, api.RunOrder{Workspace: "a", Kind: "plan"}, "")
	must(err)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	at := remote.New(client.New(client.Options{Address: server.URL, Tries: 1}))
	made, err := at.Register(ctx, token, api.AgentRegistration{Name: "host", BootID: "boot"})
	must(err)
	me := agent.Identity{ID: made.ID, Secret: made.Secret}
	a, err := at.Claim(ctx, me, api.AgentClaim{Key: "one", BootID: "boot"})
	must(err)
	answered := make(chan string)
	go func() {
		found, err := at.Claim(ctx, me, api.AgentClaim{Key: uuid.NewString(), BootID: "boot", Wait: 50})
		if err != nil || found != nil {
			t.Errorf("the claim is answered with %v, %v", found, err)
		}
		answered <- "the claim"
	}()
	go func() {
		hold := agent.Hold{Run: a.Run, Token: a.Token, Stage: a.Stage, Attempt: a.Attempt, Epoch: a.Epoch}
		if lease, err := at.Lease(ctx, hold, api.LeaseRenewal{Epoch: a.Epoch, Stage: a.Stage, Wait: 50}); err != nil ||
			lease.Cancel != "" {
			t.Errorf("the renewal is answered with %v, %v", lease, err)
		}
		answered <- "the renewal"
	}()
	us := newCaller(t, server, acme, acmeKey)
	stream := us.open("/api/v1/runs/" + run.ID + "/log/stream")
	defer stream.Body.Close()
	go func() {
		for buffer := make([]byte, 1<<10); err == nil; {
			_, err = stream.Body.Read(buffer)
		}
		answered <- "the stream"
	}()
	close(stopping)
	for range 3 {
		select {
		case <-answered:
		case <-ctx.Done():
			t.Fatal("somebody still waits")
		}
	}
}

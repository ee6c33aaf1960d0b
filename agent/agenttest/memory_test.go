package agenttest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/agenttest"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// world is Memory for the suite.
type world struct {
	*agenttest.Memory
	server agent.Server
	runs   int
}

func newWorld() *world {
	m := agenttest.NewMemory()
	m.Template, m.Configuration = api.Assignment{Org: "acme"}, []byte("an archive")
	return &world{Memory: m, server: m}
}

func (w *world) Server() agent.Server { return w.server }

func (w *world) Queue(*testing.T) string {
	w.runs++
	return w.Memory.Queue("prod/network-"+strconv.Itoa(w.runs), "apply")
}

func (w *world) PlanFiles(*testing.T, api.Assignment) map[string][]byte {
	return map[string][]byte{"plan": []byte("a plan"), "plan_json": []byte("{}"), "lock_file": []byte("a lock")}
}

func (w *world) Approve(_ *testing.T, run string) { w.Memory.Approve(run) }

func (w *world) Resolve(_ *testing.T, run string) { w.Memory.Resolve(run) }

func (w *world) Cancel(_ *testing.T, run, level string) { w.Memory.Cancel(run, level) }

func (w *world) Expire(_ *testing.T, run string) {
	if renewals := w.Renewals(run); len(renewals) > 0 && renewals[len(renewals)-1].Phase == "apply" {
		w.Orphan(run)
		return
	}
	w.Lose(run)
}

func TestMemory(t *testing.T) {
	agenttest.RunServer(t, func(*testing.T) agenttest.World { return newWorld() })
}

// Over HTTP all of it is the same.
func TestRemote(t *testing.T) {
	agenttest.RunServer(t, func(t *testing.T) agenttest.World {
		w := newWorld()
		server := httptest.NewServer(agenttest.Handler(w.Memory))
		t.Cleanup(server.Close)
		w.server = remote.New(client.New(client.Options{Address: server.URL}))
		return w
	})
}

// A server that has no time just now is asked again, as late as it says.
func TestRemoteWaitsAsToldTo(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries < 3 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"epoch":4,"every":9}`))
	}))
	defer server.Close()
	var waits []time.Duration
	c := client.New(client.Options{Address: server.URL,
		Retrying: func(_ error, wait time.Duration) { waits = append(waits, wait) },
		Pause:    func(context.Context, time.Duration) error { return nil }})
	lease, err := remote.New(c).Lease(t.Context(), agent.Hold{Run: "r", Token: "t"}, api.LeaseRenewal{Epoch: 4})
	if err != nil || lease.Every != 9 {
		t.Fatalf("the lease is %+v, %v", lease, err)
	}
	if len(waits) != 2 || waits[0] != 7*time.Second {
		t.Errorf("it waits %v, wanted 7 s twice", waits)
	}
}

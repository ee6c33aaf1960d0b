package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/agenttest"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
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
		server := httptest.NewServer(wire(w.Memory))
		t.Cleanup(server.Close)
		w.server = remote.New(client.New(client.Options{Address: server.URL}))
		return w
	})
}

// wire is the least of a server that speaks as the real one does.
func wire(m *agenttest.Memory) http.Handler {
	routes := http.NewServeMux()
	handle := func(pattern string, do func(r *http.Request, token string, hold agent.Hold) (any, error)) {
		routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			attempt, _ := strconv.Atoi(r.PathValue("attempt"))
			answer, err := do(r, token, agent.Hold{Run: r.PathValue("id"), Token: token, Stage: r.PathValue("stream"), Attempt: attempt})
			respond(w, answer, err)
		})
	}
	handle("POST /api/v1/agents", func(r *http.Request, token string, _ agent.Hold) (any, error) {
		return m.Register(r.Context(), token, body[api.AgentRegistration](r))
	})
	handle("POST /api/v1/agents/{id}/claim", func(r *http.Request, token string, _ agent.Hold) (any, error) {
		found, err := m.Claim(r.Context(), agent.Identity{ID: r.PathValue("id"), Secret: token}, body[api.AgentClaim](r))
		if found == nil {
			return nil, err
		}
		return found, err
	})
	handle("POST /api/v1/runs/{id}/lease", func(r *http.Request, _ string, hold agent.Hold) (any, error) {
		return m.Lease(r.Context(), hold, body[api.LeaseRenewal](r))
	})
	handle("POST /api/v1/runs/{id}/phase", func(r *http.Request, _ string, hold agent.Hold) (any, error) {
		return m.Report(r.Context(), hold, body[api.PhaseReport](r))
	})
	handle("PUT /api/v1/runs/{id}/log/{stream}/{attempt}", func(r *http.Request, _ string, hold agent.Hold) (any, error) {
		offset, _ := strconv.ParseInt(r.URL.Query().Get("offset"), 10, 64)
		piece, _ := io.ReadAll(r.Body)
		end, err := m.AppendLog(r.Context(), hold, offset, piece)
		return api.LogEnd{End: end}, err
	})
	handle("PUT /api/v1/runs/{id}/artefacts/{kind}/{attempt}", func(r *http.Request, _ string, hold agent.Hold) (any, error) {
		content, _ := io.ReadAll(r.Body)
		described := api.Artefact{Kind: r.PathValue("kind"), Size: int64(len(content)), Digest: r.Header.Get("X-Digest"), Attempt: hold.Attempt}
		return described, m.PutArtefact(r.Context(), hold, described, strings.NewReader(string(content)))
	})
	handle("GET /api/v1/runs/{id}/artefacts/{kind}/{attempt}", func(r *http.Request, _ string, hold agent.Hold) (any, error) {
		return m.OpenArtefact(r.Context(), hold, r.PathValue("kind"), hold.Attempt)
	})
	handle("GET /api/v1/runs/{id}/configuration", func(r *http.Request, _ string, hold agent.Hold) (any, error) {
		return m.OpenConfiguration(r.Context(), hold)
	})
	return routes
}

func body[T any](r *http.Request) (read T) {
	_ = json.NewDecoder(r.Body).Decode(&read)
	return read
}

func respond(w http.ResponseWriter, answer any, err error) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		status := map[fault.Kind]int{fault.Gone: 410, fault.Conflict: 409, fault.NotFound: 404, fault.Unauthenticated: 401}[f.Code.Kind()]
		w.WriteHeader(max(status, 400))
		refusal := api.LogRefusal{Failure: api.Failure{Status: "error", Code: api.ErrorCode(f.Code), Message: f.Message}}
		if end, ok := answer.(api.LogEnd); ok {
			refusal.End = end.End
		}
		_ = json.NewEncoder(w).Encode(refusal)
		return
	}
	switch answer := answer.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
	case io.ReadCloser:
		_, _ = io.Copy(w, answer)
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
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
	c := client.New(client.Options{Address: server.URL, Retrying: func(_ error, wait time.Duration) { waits = append(waits, wait) },
		Pause: func(context.Context, time.Duration) error { return nil }})
	lease, err := remote.New(c).Lease(t.Context(), agent.Hold{Run: "r", Token: "t"}, api.LeaseRenewal{Epoch: 4})
	if err != nil || lease.Every != 9 {
		t.Fatalf("the lease is %+v, %v", lease, err)
	}
	if len(waits) != 2 || waits[0] != 7*time.Second {
		t.Errorf("it waits %v, wanted 7 s twice", waits)
	}
}

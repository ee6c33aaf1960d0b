package agenttest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// Handler serves a Memory over HTTP, with the routes that the real server has for executors.
func Handler(m *Memory) http.Handler {
	routes := http.NewServeMux()
	handle := func(pattern string, do func(r *http.Request, token string, hold agent.Hold) (any, error)) {
		routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			attempt, _ := strconv.Atoi(r.PathValue("attempt"))
			answer, err := do(r, token,
				agent.Hold{Run: r.PathValue("id"), Token: token, Stage: r.PathValue("stream"), Attempt: attempt})
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
	handle("PUT /api/v1/runs/{id}/artefacts/{kind}/{attempt}",
		func(r *http.Request, _ string, hold agent.Hold) (any, error) {
			content, _ := io.ReadAll(r.Body)
			described := api.Artefact{Kind: r.PathValue("kind"), Size: int64(len(content)), Digest: r.Header.Get("X-Digest"),
				Attempt: hold.Attempt}
			return described, m.PutArtefact(r.Context(), hold, described, strings.NewReader(string(content)))
		})
	handle("GET /api/v1/runs/{id}/artefacts/{kind}/{attempt}",
		func(r *http.Request, _ string, hold agent.Hold) (any, error) {
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
		status := map[fault.Kind]int{fault.Gone: 410, fault.Conflict: 409, fault.NotFound: 404,
			fault.Unauthenticated: 401}[f.Code.Kind()]
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

package handlers

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// health answers probes. They need no credentials and tell nothing about tenants.
type health struct {
	states  func(context.Context) error
	uploads func(context.Context) error
	auth    func() string // why auth.cfg may be old; nil where nobody knows of others
	version string

	unsealed func() string // why states are not encrypted; nil where none are on a disk
}

// front says in a line what this is, to who has only the address.
func front(version string) handler {
	line := fmt.Sprintf("Holdfast %s keeps states of Terraform and OpenTofu. Clients use /api/v1/state/NAME as their "+
		"http backend's address; GET /api/v1/whoami says what a key is good for.\n", version)
	return func(context.Context, *request) (answer, error) {
		return streamed{"text/plain; charset=utf-8", func(to io.Writer) error {
			_, err := io.WriteString(to, line)
			return err
		}, nil}, nil
	}
}

func (h health) health(context.Context, *request) (answer, error) {
	return tell(api.Health{Status: "healthy", Version: h.version, Service: "holdfast"}), nil
}

// live says that the process answers at all.
func (h health) live(context.Context, *request) (answer, error) {
	return tell(api.Readiness{Status: "alive"}), nil
}

// readiness says whether a write would be accepted now, else why not. A degraded store
// accepts them: a balancer that took the node away would only make that worse.
func (h health) readiness(ctx context.Context, _ *request) (answer, error) {
	err, stale := h.ready(ctx), said(h.auth)
	unsealed := said(h.unsealed)
	switch {
	case err == nil && stale == "":
		return tell(api.Readiness{Status: "ready", Unsealed: unsealed}), nil
	case err == nil:
		return tell(api.Readiness{Status: "degraded", Reason: stale, AuthStale: stale, Unsealed: unsealed}), nil
	case fault.Is(err, fault.StoreDegraded):
		return tell(api.Readiness{Status: "degraded", Reason: fault.From(err).Message, AuthStale: stale,
			Unsealed: unsealed}), nil
	default:
		f := fault.From(err)
		// Whatever the store's fault is, to a balancer it means "not this one".
		return told{status: http.StatusServiceUnavailable, cause: err, body: api.Failure{
			Status: "error", Code: api.ErrorCode(f.Code), Message: f.Message, RequestID: middleware.RequestIDOf(ctx),
		}}, nil
	}
}

// said is what a function says that may be none.
func said(what func() string) string {
	if what == nil {
		return ""
	}
	return what()
}

func (h health) ready(ctx context.Context) error {
	if err := h.states(ctx); err != nil {
		return err
	}
	return h.uploads(ctx)
}

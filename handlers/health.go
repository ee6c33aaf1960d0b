package handlers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

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

	scarce func() string // why ordinary writes are refused although the store takes some
	nobody func() bool   // whether auth.cfg has no organization; nil where that is unknown
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

// readiness says whether a write would be accepted now, else why not. A degraded store accepts
// some, a full disk's reserve those of lock holders: a balancer that took the node away would
// only make that worse.
func (h health) readiness(ctx context.Context, _ *request) (answer, error) {
	err := h.ready(ctx)
	var reasons []string
	if fault.Is(err, fault.StoreDegraded) {
		reasons, err = append(reasons, fault.From(err).Message), nil
	}
	if err != nil {
		f := fault.From(err)
		// Whatever the store's fault is, to a balancer it means "not this one".
		return told{status: http.StatusServiceUnavailable, cause: err, body: api.Failure{
			Status: "error", Code: api.ErrorCode(f.Code), Message: f.Message, RequestID: middleware.RequestIDOf(ctx),
		}}, nil
	}
	ready := api.Readiness{Status: "ready", AuthStale: said(h.auth)}
	for _, reason := range []string{said(h.scarce), ready.AuthStale} {
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 0 {
		ready.Status, ready.Reason = "degraded", strings.Join(reasons, "; ")
	}
	return tell(ready), nil
}

// said is what a function says that may be none.
func said(what func() string) string {
	if what == nil {
		return ""
	}
	return what()
}

func (h health) ready(ctx context.Context) error {
	if h.nobody != nil && h.nobody() {
		return fault.New(fault.StoreUnavailable, "auth.cfg has no organization, so nobody can read or write: put the right "+
			"file in its place, or make an organization with `holdfast org add`")
	}
	if err := h.states(ctx); err != nil {
		return err
	}
	return h.uploads(ctx)
}

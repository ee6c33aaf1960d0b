package client

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
)

// RunsQuery selects runs; what is empty selects nothing.
type RunsQuery struct {
	Workspace, Kind string
	Status          []string
	Limit           int // at most so many; 0 for all
}

// Runs lists runs, the newest first, without their diagnostics.
func (c *Client) Runs(q RunsQuery) *List[api.Run] {
	r := get("runs", map[string]string{"workspace": q.Workspace, "kind": q.Kind, "status": strings.Join(q.Status, ",")})
	return newList(c, r, "cursor", q.Limit, func(p api.Runs) ([]api.Run, string) { return p.Runs, textOr(p.Next) })
}

func ofRun(method, id string, below ...string) request {
	r := request{method: method, path: base + "runs/" + pathSegment(id), header: map[string]string{}}
	for _, segment := range below {
		r.path += "/" + segment
	}
	return r
}

// CreateRun asks for a run. With a key, the same call repeated returns the run of the first one;
// an empty one is replaced by one of its own.
func (c *Client) CreateRun(ctx context.Context, order api.RunOrder, key string) (api.Run, error) {
	r := request{method: http.MethodPost, path: base + "runs"}.with(order)
	return ask[api.Run](ctx, c, r.keyed(key))
}

// RetryRun makes a run like one that has ended. The key is as that of CreateRun.
func (c *Client) RetryRun(ctx context.Context, id, key string) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodPost, id, "retry").keyed(key))
}

// keyed is the request with an Idempotency-Key, so that sending it again does nothing again.
func (r request) keyed(key string) request {
	if key == "" {
		key = uuid.NewString()
	}
	r.header = map[string]string{"Idempotency-Key": key}
	return r
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id string) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodGet, id))
}

// RunEvents lists what happened to a run, in order; at most limit, or all for 0.
func (c *Client) RunEvents(id string, limit int) *List[api.RunEvent] {
	return newList(c, ofRun(http.MethodGet, id, "events"), "after", limit, func(p api.RunEvents) ([]api.RunEvent, string) {
		if p.Next == nil {
			return p.Events, ""
		}
		return p.Events, strconv.FormatInt(*p.Next, 10)
	})
}

// RunInsight returns what a run's plan means.
func (c *Client) RunInsight(ctx context.Context, id string) (api.Insight, error) {
	return ask[api.Insight](ctx, c, ofRun(http.MethodGet, id, "insight"))
}

// RunChanges returns what a run's plan would change.
func (c *Client) RunChanges(ctx context.Context, id string) (api.RunChanges, error) {
	return ask[api.RunChanges](ctx, c, ofRun(http.MethodGet, id, "changes"))
}

// RunOutputs returns the outputs that a run's apply has left behind.
func (c *Client) RunOutputs(ctx context.Context, id string) (api.RunOutputs, error) {
	return ask[api.RunOutputs](ctx, c, ofRun(http.MethodGet, id, "outputs"))
}

// ApproveRun says yes to the plan with the decision's digest.
func (c *Client) ApproveRun(ctx context.Context, id string, d api.Decision) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodPost, id, "approve").with(d))
}

// DenyRun says no to the plan with the decision's digest, which ends the run.
func (c *Client) DenyRun(ctx context.Context, id string, d api.Decision) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodPost, id, "deny").with(d))
}

// CancelRun ends a run.
func (c *Client) CancelRun(ctx context.Context, id string, o api.CancelOrder) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodPost, id, "cancel").with(o))
}

// DiscardRun ends a run whose plan nobody wants.
func (c *Client) DiscardRun(ctx context.Context, id, reason string) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodPost, id, "discard").with(api.ResolveOrder{Reason: reason}))
}

// ResolveRun ends a run whose executor was lost while it applied.
func (c *Client) ResolveRun(ctx context.Context, id, reason string) (api.Run, error) {
	return ask[api.Run](ctx, c, ofRun(http.MethodPost, id, "resolve").with(api.ResolveOrder{Reason: reason}))
}

// RunLogQuery says which part of which log.
type RunLogQuery struct {
	Stream  string // plan, which is the default, or apply
	Attempt int    // 0 for the newest
	Offset  int64
	Strip   bool // without colours and other escape sequences
}

// OpenRunLog opens a log up to where it ends now. The caller closes it.
func (c *Client) OpenRunLog(ctx context.Context, id string, q RunLogQuery) (io.ReadCloser, error) {
	r := ofRun(http.MethodGet, id, "log")
	r.query = map[string]string{"stream": q.Stream, "offset": strconv.FormatInt(q.Offset, 10)}
	if q.Attempt > 0 {
		r.query["attempt"] = strconv.Itoa(q.Attempt)
	}
	if q.Strip {
		r.query["ansi"] = "strip"
	}
	return c.open(ctx, r)
}

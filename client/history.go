package client

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/api"
)

// Versions lists what describes a state's versions, the newest first; at most limit, or all
// for 0.
func (c *Client) Versions(name string, limit int) *List[api.Version] {
	return newList(c, ofState(http.MethodGet, name, "versions"), "before", limit,
		func(p api.Versions) ([]api.Version, string) { return p.Versions, numberOr(p.Next) })
}

func ofVersion(method, name string, number uint64, below ...string) request {
	return ofState(method, name, append([]string{"versions", strconv.FormatUint(number, 10)}, below...)...)
}

// Rollback makes the content of an older version the newest, for the order's reason and under
// the lock that it names, and returns the version that it made.
func (c *Client) Rollback(ctx context.Context, name string, number uint64, o api.Order) (api.Version, error) {
	return ask[api.Version](ctx, c, ofVersion(http.MethodPost, name, number, "rollback").with(o))
}

// Purge destroys the bytes of a version for good; with copies, those of all versions that have
// the same.
func (c *Client) Purge(ctx context.Context, name string, number uint64, reason string,
	copies bool) (api.Purged, error) {
	r := ofVersion(http.MethodDelete, name, number)
	r.query = map[string]string{"reason": reason, "copies": flag(copies)}
	return ask[api.Purged](ctx, c, r)
}

// DiffOptions say what a diff shows.
type DiffOptions struct {
	Against   uint64 // the version to compare with; 0 for the one before. Not for a candidate
	Sensitive bool   // show sensitive values; that is recorded
	Text      bool   // for people, in the manner of a plan, instead of an api.Diff in JSON
}

func (o DiffOptions) on(r request) request {
	r.query = map[string]string{"against": positive(o.Against), "sensitive": flag(o.Sensitive), "format": "json"}
	if o.Text {
		r.query["format"] = "text"
	}
	return r
}

// Diff returns how a version differs from an older one.
func (c *Client) Diff(ctx context.Context, name string, number uint64, o DiffOptions) (api.Diff, error) {
	o.Text = false
	return ask[api.Diff](ctx, c, o.on(ofVersion(http.MethodGet, name, number, "diff")))
}

// OpenDiff is Diff for one that may be as large as a state. The caller closes it.
func (c *Client) OpenDiff(ctx context.Context, name string, number uint64, o DiffOptions) (io.ReadCloser, error) {
	return c.open(ctx, o.on(ofVersion(http.MethodGet, name, number, "diff")))
}

// Outputs returns the outputs of a state's newest version. Sensitive values are masked, unless
// they are asked for, which is recorded.
func (c *Client) Outputs(ctx context.Context, name string, sensitive bool) (api.Outputs, error) {
	r := ofState(http.MethodGet, name, "outputs")
	r.query = map[string]string{"sensitive": flag(sensitive)}
	return ask[api.Outputs](ctx, c, r)
}

// Output returns one output.
func (c *Client) Output(ctx context.Context, name, key string) (api.Output, error) {
	return ask[api.Output](ctx, c, ofState(http.MethodGet, name, "outputs", key))
}

// OutputText returns a string's bare text, or the JSON of an output that is none.
func (c *Client) OutputText(ctx context.Context, name, key string) ([]byte, error) {
	r := ofState(http.MethodGet, name, "outputs", key)
	r.query = map[string]string{"raw": "true"}
	answer, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	return io.ReadAll(answer)
}

// EventsQuery selects lines of the audit log; what is empty selects nothing.
type EventsQuery struct {
	Action, State string
	KeyID         string
	Since, Until  time.Time // then or later, before then
	Limit         int       // at most so many; 0 for all
}

// Events lists the audit log, the newest first.
func (c *Client) Events(q EventsQuery) *List[api.Event] {
	r := get("audit", map[string]string{
		"action": q.Action, "state": q.State, "key": q.KeyID, "since": moment(q.Since), "until": moment(q.Until),
	})
	return newList(c, r, "before", q.Limit,
		func(p api.Events) ([]api.Event, string) { return p.Events, numberOr(p.Next) })
}

// AuditChain has the server verify a part of the audit log's chain: up to limit entries behind one, SEQUENCE:HASH, or
// from the first one on; 0 leaves the number to the server. An entry that was kept elsewhere has to be in the chain,
// unless it is empty.
func (c *Client) AuditChain(ctx context.Context, after, kept string, limit int) (api.AuditChain, error) {
	query := map[string]string{"after": after, "kept": kept}
	if limit > 0 {
		query["limit"] = strconv.Itoa(limit)
	}
	return ask[api.AuditChain](ctx, c, get("audit/chain", query))
}

func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

package client

import (
	"context"
	"io"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// Candidates lists a state's candidates, the newest first.
func (c *Client) Candidates(name string) *List[api.Candidate] {
	return newList(c, ofState(http.MethodGet, name, "candidates"), "cursor", 0,
		func(p api.Candidates) ([]api.Candidate, string) { return p.Candidates, textOr(p.Next) })
}

// OpenCandidate opens the exact bytes of an open candidate, as Candidates has described it. The
// caller closes it. Read returns ErrDamaged where somebody has decided on it since.
func (c *Client) OpenCandidate(ctx context.Context, name string, described api.Candidate) (*Content, error) {
	content, err := c.content(ctx, ofState(http.MethodGet, name, "candidates", described.ID))
	if err == nil {
		content.Digest = described.Digest
	}
	return content, err
}

// AddCandidate keeps a body as a candidate, for a reason, which may be empty. It is sent as by
// Put.
func (c *Client) AddCandidate(ctx context.Context, name string, content io.Reader,
	reason string) (api.Candidate, error) {
	r := ofState(http.MethodPost, name, "candidates")
	r.query, r.body = map[string]string{"reason": reason}, bodyOf(content)
	return ask[api.Candidate](ctx, c, r)
}

// OpenCandidateDiff opens how an open candidate differs from the newest version. The caller
// closes it.
func (c *Client) OpenCandidateDiff(ctx context.Context, name, id string, o DiffOptions) (io.ReadCloser, error) {
	return c.open(ctx, o.on(ofState(http.MethodGet, name, "candidates", id, "diff")))
}

// Promote makes a candidate the newest version, as the order says, and returns that.
func (c *Client) Promote(ctx context.Context, name, id string, o api.Order) (api.Version, error) {
	return ask[api.Version](ctx, c, ofState(http.MethodPost, name, "candidates", id, "promote").with(o))
}

// Discard ends a candidate, for a reason, which may be empty.
func (c *Client) Discard(ctx context.Context, name, id, reason string) error {
	_, err := ask[api.Done](ctx, c,
		ofState(http.MethodPost, name, "candidates", id, "discard").with(api.Order{Reason: reason}))
	return err
}

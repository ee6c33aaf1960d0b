package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// Expect announces a change of a state, so that no guard holds it.
func (c *Client) Expect(ctx context.Context, name string, what api.Expect) (api.Expected, error) {
	return ask[api.Expected](ctx, c, ofState(http.MethodPost, name, "expect").with(what))
}

// Expected returns what is expected of a state.
func (c *Client) Expected(ctx context.Context, name string) (api.Expected, error) {
	return ask[api.Expected](ctx, c, ofState(http.MethodGet, name, "expect"))
}

// Unexpect takes back what is expected of a state, and returns it. The reason may be empty.
func (c *Client) Unexpect(ctx context.Context, name, reason string) (api.Expected, error) {
	r := ofState(http.MethodDelete, name, "expect")
	r.query = map[string]string{"reason": reason}
	return ask[api.Expected](ctx, c, r)
}

package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// Keys returns the organization's keys and its rules for tokens and certificates. None has what
// somebody could come in with.
func (c *Client) Keys(ctx context.Context) ([]api.Key, error) {
	all, err := ask[api.Keys](ctx, c, get("keys", nil))
	if err == nil && all.Keys == nil {
		err = api.ErrForeign
	}
	return all.Keys, err
}

// MakeKey makes a key. Only this answer has its text.
func (c *Client) MakeKey(ctx context.Context, wanted api.KeyWanted) (api.KeyMade, error) {
	r := request{method: http.MethodPost, path: base + "keys"}
	return ask[api.KeyMade](ctx, c, r.with(wanted))
}

// RotateKey puts a new key in the place of the one with this ID or name. Only this answer has its
// text.
func (c *Client) RotateKey(ctx context.Context, which string, how api.KeyRotation) (api.KeyMade, error) {
	r := request{method: http.MethodPost, path: base + "keys/" + pathSegment(which) + "/rotate"}
	return ask[api.KeyMade](ctx, c, r.with(how))
}

// RevokeKey takes the key with this ID or name away.
func (c *Client) RevokeKey(ctx context.Context, which string) (api.KeyRevoked, error) {
	return ask[api.KeyRevoked](ctx, c, request{method: http.MethodDelete, path: base + "keys/" + pathSegment(which)})
}

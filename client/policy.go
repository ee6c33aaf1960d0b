package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

// Policies returns the bundles of policies that count for a workspace; for the empty name all of the
// organization and its workspaces.
func (c *Client) Policies(ctx context.Context, workspace string) ([]api.Policy, error) {
	all, err := ask[api.Policies](ctx, c, get("policies", map[string]string{"workspace": workspace}))
	if err == nil && all.Policies == nil {
		err = api.ErrForeign
	}
	return all.Policies, err
}

// ofPolicy addresses a bundle: of a workspace, or of the organization for the empty name.
func ofPolicy(method, workspace, name string) request {
	return request{method: method, path: base + "policies/" + pathSegment(name),
		query: map[string]string{"workspace": workspace}}
}

// Policy returns a version of a bundle with its files; the newest one for 0.
func (c *Client) Policy(ctx context.Context, workspace, name string, version int64) (api.PolicyBundle, error) {
	r := ofPolicy(http.MethodGet, workspace, name)
	if version > 0 {
		r.query["version"] = strconv.FormatInt(version, 10)
	}
	return ask[api.PolicyBundle](ctx, c, r)
}

// PushPolicy makes a version of a bundle, unless the newest one is the same.
func (c *Client) PushPolicy(ctx context.Context, workspace, name string, order api.PolicyOrder) (api.Policy, error) {
	return ask[api.Policy](ctx, c, ofPolicy(http.MethodPut, workspace, name).with(order))
}

// RemovePolicy takes a bundle away with all its versions. To remove it again is accepted.
func (c *Client) RemovePolicy(ctx context.Context, workspace, name string) error {
	_, err := ask[api.Done](ctx, c, ofPolicy(http.MethodDelete, workspace, name))
	return err
}

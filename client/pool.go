package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// Pools returns the organization's pools of agents, with their agents.
func (c *Client) Pools(ctx context.Context) ([]api.AgentPool, error) {
	all, err := ask[api.AgentPools](ctx, c, get("pools", nil))
	if err == nil && all.Pools == nil {
		err = api.ErrForeign
	}
	return all.Pools, err
}

// CreatePool makes a pool for the workspaces that these patterns match; none for all. Only this
// answer has the pool's token.
func (c *Client) CreatePool(ctx context.Context, name string, workspaces []string) (api.AgentPool, error) {
	r := request{method: http.MethodPost, path: base + "pools"}
	return ask[api.AgentPool](ctx, c, r.with(api.PoolOrder{Name: name, Workspaces: workspaces}))
}

// RotatePool gives a pool another token. Only this answer has it.
func (c *Client) RotatePool(ctx context.Context, name string) (api.AgentPool, error) {
	return ask[api.AgentPool](ctx, c,
		request{method: http.MethodPost, path: base + "pools/" + pathSegment(name) + "/rotate"})
}

// RemovePool takes a pool and its agents away.
func (c *Client) RemovePool(ctx context.Context, name string) error {
	_, err := ask[api.Done](ctx, c, request{method: http.MethodDelete, path: base + "pools/" + pathSegment(name)})
	return err
}

// ChangePool has a pool serve the workspaces that these patterns match; none for all.
func (c *Client) ChangePool(ctx context.Context, name string, workspaces []string) (api.AgentPool, error) {
	r := request{method: http.MethodPatch, path: base + "pools/" + pathSegment(name)}
	return ask[api.AgentPool](ctx, c, r.with(api.PoolChange{Workspaces: workspaces}))
}

// GrantPool lends a pool to another organization, by its UUID.
func (c *Client) GrantPool(ctx context.Context, name string, order api.GrantOrder) (api.AgentPool, error) {
	r := request{method: http.MethodPost, path: base + "pools/" + pathSegment(name) + "/grants"}
	return ask[api.AgentPool](ctx, c, r.with(order))
}

// RevokePool lends it no more.
func (c *Client) RevokePool(ctx context.Context, name, organization string) (api.AgentPool, error) {
	return ask[api.AgentPool](ctx, c,
		request{method: http.MethodDelete, path: base + "pools/" + pathSegment(name) + "/grants/" +
			pathSegment(organization)})
}

// AcceptPool takes a pool that another organization lends, which names that.
func (c *Client) AcceptPool(ctx context.Context, order api.PoolOrder) (api.AgentPool, error) {
	r := request{method: http.MethodPost, path: base + "pools"}
	return ask[api.AgentPool](ctx, c, r.with(order))
}

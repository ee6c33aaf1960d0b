package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

func ofRepository(method, name, below string) request {
	return request{method: method, path: base + "repositories/" + pathSegment(name) + below}
}

// Repositories lists git repositories by name.
func (c *Client) Repositories() *List[api.Repository] {
	return listByName(c, "repositories", nil,
		func(p api.Repositories) ([]api.Repository, string) { return p.Repositories, textOr(p.Next) })
}

// Repository describes one.
func (c *Client) Repository(ctx context.Context, name string) (api.Repository, error) {
	return ask[api.Repository](ctx, c, ofRepository(http.MethodGet, name, ""))
}

// CreateRepository registers one. Only this answer has its webhook secret.
func (c *Client) CreateRepository(ctx context.Context, order api.RepositoryChange) (api.Repository, error) {
	return ask[api.Repository](ctx, c, request{method: http.MethodPost, path: base + "repositories"}.with(order))
}

// ChangeRepository changes what the change names.
func (c *Client) ChangeRepository(ctx context.Context, name string,
	change api.RepositoryChange) (api.Repository, error) {
	return ask[api.Repository](ctx, c, ofRepository(http.MethodPatch, name, "").with(change))
}

// FetchRepository fetches one now, and returns when that is done.
func (c *Client) FetchRepository(ctx context.Context, name string) (api.Repository, error) {
	return ask[api.Repository](ctx, c, ofRepository(http.MethodPost, name, "/fetch"))
}

// RenewWebhookSecret gives one another webhook secret. Only this answer has it.
func (c *Client) RenewWebhookSecret(ctx context.Context, name string) (api.Repository, error) {
	return ask[api.Repository](ctx, c, ofRepository(http.MethodPost, name, "/secret"))
}

// RemoveRepository takes one away. Workspaces keep what they got from it.
func (c *Client) RemoveRepository(ctx context.Context, name string) error {
	_, err := ask[api.Done](ctx, c, ofRepository(http.MethodDelete, name, ""))
	return err
}

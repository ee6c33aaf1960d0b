package client

import (
	"context"
	"net/http"

	"github.com/holdfast/holdfast/api"
)

// OrganizationSettings returns what auth.cfg says of the organization but of credentials.
func (c *Client) OrganizationSettings(ctx context.Context) (api.OrganizationSettings, error) {
	return ask[api.OrganizationSettings](ctx, c, get("organization", nil))
}

// Configure changes how the organization's states are kept, if its settings still have the version that the
// change names.
func (c *Client) Configure(ctx context.Context, change api.OrganizationChange) (api.OrganizationSettings, error) {
	r := request{method: http.MethodPatch, path: base + "organization"}
	return ask[api.OrganizationSettings](ctx, c, r.with(change))
}

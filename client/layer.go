package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

func ofLayer(method, name string, below ...string) request {
	return ofNamed(method, "layers", name, hasMark, below)
}

// Layers lists layers by name; of a repository, or all for the empty one.
func (c *Client) Layers(repository string) *List[api.Layer] {
	return listByName(c, "layers", map[string]string{"repository": repository},
		func(p api.Layers) ([]api.Layer, string) { return p.Layers, textOr(p.Next) })
}

// Layer describes one.
func (c *Client) Layer(ctx context.Context, name string) (api.Layer, error) {
	return ask[api.Layer](ctx, c, ofLayer(http.MethodGet, name))
}

// CreateLayer makes one. To make it again as it is changes nothing.
func (c *Client) CreateLayer(ctx context.Context, order api.LayerChange) (api.Layer, error) {
	return ask[api.Layer](ctx, c, request{method: http.MethodPost, path: base + "layers"}.with(order))
}

// ChangeLayer changes its settings: those that the change names.
func (c *Client) ChangeLayer(ctx context.Context, name string, change api.LayerChange) (api.Layer, error) {
	return ask[api.Layer](ctx, c, ofLayer(http.MethodPatch, name).with(change))
}

// DeleteLayer takes one away; its workspace and its state stay.
func (c *Client) DeleteLayer(ctx context.Context, name string) error {
	_, err := ask[api.Done](ctx, c, ofLayer(http.MethodDelete, name))
	return err
}

// SyncLayer asks for a plan.
func (c *Client) SyncLayer(ctx context.Context, name string) (api.Layer, error) {
	return ask[api.Layer](ctx, c, ofLayer(http.MethodPost, name, "sync"))
}

// CheckLayer asks for a check for drift.
func (c *Client) CheckLayer(ctx context.Context, name string) (api.Layer, error) {
	return ask[api.Layer](ctx, c, ofLayer(http.MethodPost, name, "check"))
}

// DiscoverLayers shows which layers a repository has, and makes those that the order accepts.
func (c *Client) DiscoverLayers(ctx context.Context, order api.DiscoverOrder) (api.Discovered, error) {
	return ask[api.Discovered](ctx, c, request{method: http.MethodPost, path: base + "discover"}.with(order))
}

// Drift returns what has drifted in all layers.
func (c *Client) Drift(ctx context.Context) (api.Drift, error) {
	return ask[api.Drift](ctx, c, get("drift", nil))
}

// LayerDrift returns what the last check of a layer has found.
func (c *Client) LayerDrift(ctx context.Context, name string) (api.LayerDrift, error) {
	return ask[api.LayerDrift](ctx, c, ofLayer(http.MethodGet, name, "drift"))
}

// DriftTrend returns what checks of all layers have found on so many days; 0 for the usual.
func (c *Client) DriftTrend(ctx context.Context, days int) (api.DriftTrend, error) {
	return ask[api.DriftTrend](ctx, c, get("drift/trend", daysQuery(days)))
}

// LayerDriftTrend returns what checks of a layer have found on so many days; 0 for the usual.
func (c *Client) LayerDriftTrend(ctx context.Context, name string, days int) (api.DriftTrend, error) {
	r := ofLayer(http.MethodGet, name, "drift", "trend")
	r.query = daysQuery(days)
	return ask[api.DriftTrend](ctx, c, r)
}

func daysQuery(days int) map[string]string {
	if days == 0 {
		return nil
	}
	return map[string]string{"days": strconv.Itoa(days)}
}

// ExpectDrift says that drift is as it should be, for a time.
func (c *Client) ExpectDrift(ctx context.Context, name string, what api.DriftExpected) (api.LayerDrift, error) {
	return ask[api.LayerDrift](ctx, c, ofLayer(http.MethodPost, name, "expectations").with(what))
}

// UnexpectDrift takes that back.
func (c *Client) UnexpectDrift(ctx context.Context, name, id string) (api.LayerDrift, error) {
	return ask[api.LayerDrift](ctx, c, ofLayer(http.MethodDelete, name, "expectations", id))
}

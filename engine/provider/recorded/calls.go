package recorded

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// calls is a provider that makes an entry of each call, and has it answered.
type calls struct {
	provider.Basic
	ask     func(ctx context.Context, e entry) (answer, error)
	stop    func(ctx context.Context) error
	closing func() error
}

func (c *calls) answered(ctx context.Context, e entry) (answer, error) {
	a, err := c.ask(ctx, e)
	if err == nil {
		err = a.err()
	}
	return a, err
}

func (c *calls) object(ctx context.Context, e entry) (provider.Object, error) {
	a, err := c.answered(ctx, e)
	return provider.Object{Value: a.Value.Value, Private: a.Kept}, err
}

// Schemas implements provider.Provider.
func (c *calls) Schemas(ctx context.Context) (*provider.Schemas, error) {
	a, err := c.answered(ctx, entry{Call: "schemas"})
	return a.Schemas, err
}

// Configure implements provider.Provider.
func (c *calls) Configure(ctx context.Context, config cty.Value) error {
	_, err := c.answered(ctx, entry{Call: "configure", Asked: map[string]value{"config": {config}}})
	return err
}

// ValidateResource implements provider.Provider.
func (c *calls) ValidateResource(ctx context.Context, kind provider.Kind, name string, config cty.Value) error {
	_, err := c.answered(ctx, entry{Call: "validate", Type: name, Text: string(kind),
		Asked: map[string]value{"config": {config}}})
	return err
}

// Upgrade implements provider.Provider.
func (c *calls) Upgrade(ctx context.Context, name string, version int64, recorded []byte) (cty.Value, error) {
	o, err := c.object(ctx, entry{Call: "upgrade", Type: name, Number: version, Text: string(recorded)})
	return o.Value, err
}

// Read implements provider.Provider.
func (c *calls) Read(ctx context.Context, r provider.ReadRequest) (provider.Object, error) {
	return c.object(ctx, entry{Call: "read", Type: r.Type, Kept: r.Private, Asked: map[string]value{"object": {r.Value}}})
}

// Plan implements provider.Provider.
func (c *calls) Plan(ctx context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	a, err := c.answered(ctx, entry{Call: "plan", Type: r.Type, Kept: r.Private,
		Asked: map[string]value{"prior": {r.Prior}, "proposed": {r.Proposed}, "config": {r.Config}}})
	result := provider.PlanResult{Planned: a.Value.Value, Private: a.Kept, Legacy: a.Legacy}
	for _, packed := range a.Replace {
		result.RequiresReplace = append(result.RequiresReplace, unpack(packed))
	}
	return result, err
}

// Apply implements provider.Provider.
func (c *calls) Apply(ctx context.Context, r provider.ApplyRequest) (provider.Object, error) {
	return c.object(ctx, entry{Call: "apply", Type: r.Type, Kept: r.Private,
		Asked: map[string]value{"prior": {r.Prior}, "planned": {r.Planned}, "config": {r.Config}}})
}

// ReadData implements provider.Provider.
func (c *calls) ReadData(ctx context.Context, name string, config cty.Value) (cty.Value, error) {
	o, err := c.object(ctx, entry{Call: "data", Type: name, Asked: map[string]value{"config": {config}}})
	return o.Value, err
}

// Import implements provider.Provider.
func (c *calls) Import(ctx context.Context, name, id string) (provider.Object, error) {
	return c.object(ctx, entry{Call: "import", Type: name, Text: id})
}

// Stop implements provider.Provider.
func (c *calls) Stop(ctx context.Context) error {
	if c.stop == nil {
		return nil
	}
	return c.stop(ctx)
}

// Close implements provider.Provider.
func (c *calls) Close() error {
	if c.closing == nil {
		return nil
	}
	return c.closing()
}

package fake

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// faulty asks the world before each call of a provider whether it may go on.
type faulty struct {
	provider.Provider
	world *World
}

func (f *faulty) may(call string) error { return f.world.Called(call) }

// VisibleWithin implements provider.Eventual.
func (f *faulty) VisibleWithin(name string) (d time.Duration) {
	if slow, ok := f.Provider.(provider.Eventual); ok {
		return slow.VisibleWithin(name)
	}
	return d
}

// Schemas implements provider.Provider.
func (f *faulty) Schemas(ctx context.Context) (*provider.Schemas, error) {
	if err := f.may("schemas"); err != nil {
		return nil, err
	}
	return f.Provider.Schemas(ctx)
}

// Configure implements provider.Provider.
func (f *faulty) Configure(ctx context.Context, config cty.Value) error {
	if err := f.may("configure"); err != nil {
		return err
	}
	return f.Provider.Configure(ctx, config)
}

// ValidateResource implements provider.Provider.
func (f *faulty) ValidateResource(ctx context.Context, kind provider.Kind, name string, config cty.Value) error {
	if err := f.may("validate"); err != nil {
		return err
	}
	return f.Provider.ValidateResource(ctx, kind, name, config)
}

// Upgrade implements provider.Provider.
func (f *faulty) Upgrade(ctx context.Context, name string, version int64, recorded []byte) (cty.Value, error) {
	if err := f.may("upgrade"); err != nil {
		return cty.NilVal, err
	}
	return f.Provider.Upgrade(ctx, name, version, recorded)
}

// Read implements provider.Provider.
func (f *faulty) Read(ctx context.Context, r provider.ReadRequest) (provider.Object, error) {
	if err := f.may("read"); err != nil {
		return provider.Object{}, err
	}
	return f.Provider.Read(ctx, r)
}

// Plan implements provider.Provider.
func (f *faulty) Plan(ctx context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	if err := f.may("plan"); err != nil {
		return provider.PlanResult{}, err
	}
	return f.Provider.Plan(ctx, r)
}

// Apply implements provider.Provider.
func (f *faulty) Apply(ctx context.Context, r provider.ApplyRequest) (provider.Object, error) {
	if err := f.may("apply"); err != nil {
		return provider.Object{}, err
	}
	return f.Provider.Apply(ctx, r)
}

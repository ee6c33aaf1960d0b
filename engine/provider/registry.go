package provider

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
)

// Factory makes a provider that isn't configured yet.
type Factory func(ctx context.Context) (Provider, error)

// Registry knows how to get the providers there are.
type Registry struct {
	mu        sync.Mutex
	factories map[addr.Provider]Factory
	find      func(addr.Provider) (Factory, error)
	schemas   map[addr.Provider]*Schemas
}

// NewRegistry makes a registry. find is asked for providers that weren't added; nil finds none.
func NewRegistry(find func(addr.Provider) (Factory, error)) *Registry {
	return &Registry{factories: map[addr.Provider]Factory{}, find: find, schemas: map[addr.Provider]*Schemas{}}
}

// Add makes a provider known.
func (r *Registry) Add(p addr.Provider, f Factory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.factories[p] = f
}

// New makes a provider.
func (r *Registry) New(ctx context.Context, p addr.Provider) (Provider, error) {
	r.mu.Lock()
	f := r.factories[p]
	r.mu.Unlock()
	if f == nil && r.find != nil {
		var err error
		if f, err = r.find(p); err != nil {
			return nil, err
		}
	}
	if f == nil {
		return nil, &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("the provider %s isn't installed", p),
			Hint: "holdfast engine init finds the providers that a configuration needs"}
	}
	return f(ctx)
}

// Schemas describes a provider. The first answer is kept.
func (r *Registry) Schemas(ctx context.Context, p addr.Provider) (*Schemas, error) {
	if known := r.Known(p); known != nil {
		return known, nil
	}
	made, err := r.New(ctx, p)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	schemas, err := made.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.schemas[p] = schemas
	return schemas, nil
}

// Known describes a provider if that was asked before, and is nil otherwise. It starts no program.
func (r *Registry) Known(p addr.Provider) *Schemas {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.schemas[p]
}

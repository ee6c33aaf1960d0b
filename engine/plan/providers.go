package plan

import (
	"context"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/mark"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/provider"
)

// Resolved is one configuration of a provider.
type Resolved struct {
	Provider addr.Provider
	Alias    string
	Block    *config.Provider // nil if it needs no configuration
	Scope    *eval.Scope      // of the block
}

// InState is how states write it.
func (r Resolved) InState() string {
	module := ""
	if r.Scope != nil {
		module = r.Scope.Path.String()
	}
	return r.Provider.InState(module, r.Alias)
}

// Providers are the configured providers of one operation.
type Providers struct {
	Registry *provider.Registry

	mu      sync.Mutex
	started map[string]provider.Provider
}

// NewProviders starts none yet.
func NewProviders(r *provider.Registry) *Providers {
	return &Providers{Registry: r, started: map[string]provider.Provider{}}
}

// Source is where a module says that a provider comes from.
func Source(m *config.Module, name string) (addr.Provider, error) {
	name, _, _ = strings.Cut(name, ".")
	if r, ok := m.Required[name]; ok && r.Source != "" {
		return addr.ParseProvider(r.Source)
	}
	if name == "terraform" {
		return addr.BuiltIn(), nil
	}
	return addr.ParseProvider(name)
}

// Resolve finds the configuration that a name in a module means: its own, or one that the callers hand over.
func Resolve(s *eval.Scope, name string) (Resolved, error) {
	source, err := Source(s.Module, name)
	if err != nil {
		return Resolved{}, err
	}
	for {
		_, alias, _ := strings.Cut(name, ".")
		if s.Parent != nil {
			if mapped, ok := s.Call.Providers[name]; ok {
				name, s = mapped, s.Parent
				continue
			}
		}
		if block := s.Module.Providers[name]; block != nil {
			return Resolved{source, alias, block, s}, nil
		}
		if s.Parent == nil {
			return Resolved{Provider: source, Alias: alias, Scope: s}, nil
		}
		s = s.Parent
	}
}

// Configured returns the provider with its configuration.
func (p *Providers) Configured(ctx context.Context, r Resolved) (provider.Provider, error) {
	key := r.InState()
	p.mu.Lock()
	known := p.started[key]
	p.mu.Unlock()
	schemas, err := p.Registry.Schemas(ctx, r.Provider)
	if err != nil {
		return nil, err
	}
	var value cty.Value
	if r.Block != nil {
		// It is evaluated each time, so that who uses the provider depends on what its configuration does.
		value, err = r.Scope.Body(r.Block.Body, schemas.Provider.Block, eval.Repeat{}, `provider "`+r.Block.Key()+`"`)
		if err != nil {
			return nil, err
		}
	} else {
		value = schemas.Provider.Empty()
	}
	if known != nil {
		return known, nil
	}
	made, err := p.Registry.New(ctx, r.Provider)
	if err != nil {
		return nil, err
	}
	oplog.From(ctx, "provider").DebugContext(ctx, "a provider is configured", "provider", key)
	value, _ = mark.Paths(value)
	if err := made.Configure(ctx, value); err != nil {
		return nil, joined(err, made.Close())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started[key] = made
	return made, nil
}

func joined(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// Close ends all providers.
func (p *Providers) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first error
	for _, started := range p.started {
		first = joined(first, started.Close())
	}
	clear(p.started)
	return first
}

// Package engine parses, plans and applies Terraform's configurations as a library one can see through:
//
//	e, err := engine.New(engine.Options{Dir: "."})
//	p, err := e.Plan(ctx, plan.Options{})
//	result, err := e.Apply(ctx, p, apply.Options{})
//
// Everything goes one way: a configuration is loaded (package config), evaluated (eval), compared with the
// state (plan) and done (apply). Each of these packages can be used by itself.
package engine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/builtin"
	"github.com/holdfast/holdfast/engine/provider/plugin"
	"github.com/holdfast/holdfast/engine/statefile"
)

// Options say what an engine works on.
type Options struct {
	Dir     string // of the root module
	Inputs  config.Inputs
	Mirrors []string // folders with providers

	// Store keeps the state; nil is what the configuration's backend says.
	Store statefile.Store

	// StatePath is the file of the local backend, terraform.tfstate by default.
	StatePath string

	// Registry has the providers; nil are those of the mirrors that the lock file names.
	Registry *provider.Registry

	Hooks Hooks
}

// Hooks stand between the steps. Each may be nil; an error of one ends what is going on.
type Hooks struct {
	AfterPlan   func(ctx context.Context, p *plan.Plan) error
	BeforeApply func(ctx context.Context, p *plan.Plan) error
	AfterApply  func(ctx context.Context, p *plan.Plan, r *apply.Result) error
}

// Engine works on one configuration and its state.
type Engine struct {
	Root     *config.Module
	Inputs   map[string]cty.Value
	Store    statefile.Store
	Registry *provider.Registry
	hooks    Hooks
}

// New loads a configuration.
func New(o Options) (*Engine, error) {
	if o.Dir == "" {
		o.Dir = "."
	}
	root, err := config.Load(o.Dir)
	if err != nil {
		return nil, err
	}
	inputs, err := o.Inputs.Values(root)
	if err != nil {
		return nil, err
	}
	e := &Engine{Root: root, Inputs: inputs, Store: o.Store, Registry: o.Registry, hooks: o.Hooks}
	if e.Store == nil {
		if e.Store, err = storeOf(root, o.StatePath); err != nil {
			return nil, err
		}
	}
	if e.Registry == nil {
		if e.Registry, err = registryOf(o.Dir, o.Mirrors); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// registryOf has the built-in provider, and those that the lock file names.
func registryOf(dir string, mirrors []string) (*provider.Registry, error) {
	locks, err := plugin.ReadLocks(filepath.Join(dir, plugin.LockFile))
	if err != nil {
		return nil, err
	}
	r := provider.NewRegistry(func(p addr.Provider) (provider.Factory, error) {
		l, ok := locks[p]
		if !ok {
			return nil, nil
		}
		found, err := plugin.Choose(mirrors, p, []string{"= " + l.Version})
		if err != nil {
			return nil, err
		}
		return found.Factory(), found.Check(l)
	})
	r.Add(addr.BuiltIn(), builtin.New)
	return r, nil
}

// Plan reads the state, without its lock, and plans what to do.
func (e *Engine) Plan(ctx context.Context, o plan.Options) (*plan.Plan, error) {
	recorded, err := e.Store.Read(ctx)
	if err != nil {
		return nil, err
	}
	p, err := plan.Make(ctx, e.Root, e.Inputs, recorded, e.Registry, o)
	if err != nil {
		return nil, err
	}
	if e.hooks.AfterPlan != nil {
		err = e.hooks.AfterPlan(ctx, p)
	}
	return p, err
}

// Apply does what a plan says, with the state locked. A state that changed since the plan is left alone.
func (e *Engine) Apply(ctx context.Context, p *plan.Plan, o apply.Options) (result *apply.Result, err error) {
	operation := "apply"
	if p.Options.Destroy {
		operation = "destroy"
	}
	release, err := e.Store.Lock(ctx, statefile.NewLockInfo(operation))
	if err != nil {
		return nil, err
	}
	defer func() {
		if unlocked := release(context.WithoutCancel(ctx)); err == nil {
			err = unlocked
		}
	}()
	now, err := e.Store.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := unchanged(p.Recorded, now); err != nil {
		return nil, err
	}
	if e.hooks.BeforeApply != nil {
		if err := e.hooks.BeforeApply(ctx, p); err != nil {
			return nil, err
		}
	}
	if o.Save == nil {
		o.Save = e.Store.Write
	}
	result, err = apply.Do(ctx, p, e.Registry, o)
	if err == nil && e.hooks.AfterApply != nil {
		err = e.hooks.AfterApply(ctx, p, result)
	}
	return result, err
}

// unchanged fails if the state isn't the one that was planned on.
func unchanged(planned, now *statefile.File) error {
	if now == nil && planned.Serial == 0 && len(planned.Resources) == 0 {
		return nil
	}
	if now != nil && now.Serial == planned.Serial && now.Lineage == planned.Lineage {
		return nil
	}
	return &diag.Error{Category: diag.Concurrency, Summary: "the state has changed since the plan was made",
		Hint: "plan again"}
}

// storeOf is where the configuration says that its state is.
func storeOf(root *config.Module, path string) (statefile.Store, error) {
	settings := map[string]string{}
	if root.Backend != nil {
		attributes, problems := root.Backend.Body.JustAttributes()
		if err := diag.OfHCL(problems, "backend"); err != nil {
			return nil, err
		}
		for name, a := range attributes {
			v, problems := a.Expr.Value(nil)
			if err := diag.OfHCL(problems, "backend"); err != nil {
				return nil, err
			}
			if v.Type() == cty.String && !v.IsNull() {
				settings[name] = v.AsString()
			}
		}
	}
	if root.Backend != nil && root.Backend.Type == "http" {
		setting := func(name, variable string) string {
			if v := os.Getenv(variable); v != "" {
				return v
			}
			return settings[name]
		}
		address := setting("address", "TF_HTTP_ADDRESS")
		if address == "" {
			return nil, diag.At(root.Backend.Range, "backend", "the http backend needs an address").
				WithHint("write it into the block or set TF_HTTP_ADDRESS")
		}
		return &statefile.HTTP{Address: address, Username: setting("username", "TF_HTTP_USERNAME"),
			Password: setting("password", "TF_HTTP_PASSWORD")}, nil
	}
	if path == "" {
		path = settings["path"]
	}
	if path == "" {
		path = "terraform.tfstate"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root.Dir, path)
	}
	return statefile.NewLocal(path), nil
}

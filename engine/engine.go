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
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/builtin"
	"github.com/holdfast/holdfast/engine/provider/file"
	"github.com/holdfast/holdfast/engine/provider/plugin"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/pause"
)

// Options say what an engine works on.
type Options struct {
	Dir     string // of the root module
	Inputs  config.Inputs
	Mirrors []string // folders with providers

	// Store keeps the state; nil is what the configuration's backend says.
	Store statefile.Store

	// Workspace is the one of the local backend to work in; empty is what TF_WORKSPACE says or is selected.
	Workspace string

	// Modules brings modules that aren't in local folders; nil for none.
	Modules config.Fetcher

	// StatePath is the file of the local backend, terraform.tfstate by default.
	StatePath string

	// Registry has the providers; nil are those of the mirrors that the lock file names.
	Registry *provider.Registry

	// Hooks are called in this order.
	Hooks []Hooks

	// Snapshots is the folder that has a snapshot of the state before each change, and what each step of an
	// apply has made of it; empty for none.
	Snapshots string

	// LockTimeout is how long to wait for the lock of a state that somebody else has.
	LockTimeout time.Duration

	// Log has lines about what is done, each with the ID of its operation; nil for none. Within a context that
	// oplog.Begin has made, operations have its ID and its log instead.
	Log *slog.Logger
}

// Hooks stand between the steps. Each may be nil; an error of one ends what is going on. BeforeApply is called
// with the state locked, before anything is done, and AfterApply with the state still locked, however the
// apply has ended.
type Hooks struct {
	BeforePlan     func(ctx context.Context, o *plan.Options) error
	AfterPlan      func(ctx context.Context, p *plan.Plan) error
	BeforeApply    func(ctx context.Context, p *plan.Plan) error
	BeforeResource func(ctx context.Context, c *plan.Change) error
	AfterResource  func(ctx context.Context, c *plan.Change, failed error) error
	AfterApply     func(ctx context.Context, p *plan.Plan, r *apply.Result, failed error) error
}

// Engine works on one configuration and its state.
type Engine struct {
	Root     *config.Module
	Inputs   map[string]cty.Value
	Store    statefile.Store
	Registry *provider.Registry

	hooks     []Hooks
	snapshots string
	patience  time.Duration
	log       *slog.Logger
}

// New loads a configuration.
func New(o Options) (*Engine, error) {
	if o.Dir == "" {
		o.Dir = "."
	}
	root, err := config.LoadWith(o.Dir, o.Modules)
	if err != nil {
		return nil, err
	}
	if root.Workspace = o.Workspace; root.Workspace == "" {
		if root.Workspace, err = Selected(o.Dir); err != nil {
			return nil, err
		}
	}
	inputs, err := o.Inputs.Values(root)
	if err != nil {
		return nil, err
	}
	e := &Engine{Root: root, Inputs: inputs, Store: o.Store, Registry: o.Registry, hooks: o.Hooks,
		snapshots: o.Snapshots, patience: o.LockTimeout, log: o.Log}
	if e.Store == nil {
		if e.Store, err = storeOf(root, o.StatePath, root.Workspace); err != nil {
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

// registryOf has the built-in providers, and those that the lock file names.
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
	r.Add(file.Address(), file.New)
	return r, nil
}

// Plan reads the state, without its lock, and plans what to do.
func (e *Engine) Plan(ctx context.Context, o plan.Options) (p *plan.Plan, err error) {
	ctx, ended := e.operation(ctx, "plan")
	defer func() { ended(err, planned(p)...) }()
	for _, h := range e.hooks {
		if h.BeforePlan != nil {
			if err := h.BeforePlan(ctx, &o); err != nil {
				return nil, err
			}
		}
	}
	recorded, err := e.Read(ctx)
	if err != nil {
		return nil, err
	}
	p, err = plan.Make(ctx, e.Root, e.Inputs, recorded, e.Registry, o)
	if err != nil {
		return nil, err
	}
	for _, h := range e.hooks {
		if h.AfterPlan != nil {
			if err := h.AfterPlan(ctx, p); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// Apply does what a plan says, with the state locked. A state that changed since the plan is left alone.
func (e *Engine) Apply(ctx context.Context, p *plan.Plan, o apply.Options) (result *apply.Result, err error) {
	operation := "apply"
	if p.Options.Destroy {
		operation = "destroy"
	}
	ctx, ended := e.operation(ctx, operation)
	defer func() { ended(err, applied(result)...) }()
	release, err := e.Lock(ctx, operation)
	if err != nil {
		return nil, err
	}
	defer func() {
		if unlocked := release(context.WithoutCancel(ctx)); err == nil {
			err = unlocked
		}
	}()
	now, err := e.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := unchanged(p.Recorded, now, p.Absent); err != nil {
		return nil, err
	}
	for _, h := range e.hooks {
		if h.BeforeApply != nil {
			if err := h.BeforeApply(ctx, p); err != nil {
				return nil, err
			}
		}
	}
	journal, err := e.begin(ctx, operation, p, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, journal.end()) }()
	o.Record = journal.step
	e.hook(&o)
	if o.Save == nil {
		o.Save = e.write
	}
	unsaved := e.keepUnsaved(&o)
	result, err = apply.Do(ctx, p, e.Registry, o)
	if kept := unsaved(); kept != nil {
		err = errors.Join(err, kept)
	}
	for _, h := range e.hooks {
		if h.AfterApply != nil {
			if failed := h.AfterApply(context.WithoutCancel(ctx), p, result, err); failed != nil {
				err = errors.Join(err, failed)
			}
		}
	}
	return result, err
}

// hook has the hooks of resources called.
func (e *Engine) hook(o *apply.Options) {
	before, after := o.Before, o.After
	o.Before = func(ctx context.Context, c *plan.Change) error {
		for _, h := range e.hooks {
			if h.BeforeResource != nil {
				if err := h.BeforeResource(ctx, c); err != nil {
					return err
				}
			}
		}
		if before != nil {
			return before(ctx, c)
		}
		return nil
	}
	o.After = func(ctx context.Context, c *plan.Change, failed error) error {
		for _, h := range e.hooks {
			if h.AfterResource != nil {
				if err := h.AfterResource(ctx, c, failed); err != nil {
					return err
				}
			}
		}
		if after != nil {
			return after(ctx, c, failed)
		}
		return nil
	}
}

// lockEvery is how often a lock that somebody else has is tried again.
const lockEvery = time.Second

// Lock locks the state, and waits for who has it for as long as the options say.
func (e *Engine) Lock(ctx context.Context, operation string) (release func(context.Context) error, err error) {
	info := statefile.NewLockInfo(operation)
	log := oplog.From(ctx, "state")
	for begin := time.Now(); ; {
		release, err = e.Store.Lock(ctx, info)
		var fault *diag.Error
		taken := errors.As(err, &fault) && fault.Category == diag.Concurrency
		if taken {
			log.WarnContext(ctx, "the state is locked by somebody else")
		}
		if !taken || !time.Now().Add(lockEvery).Before(begin.Add(e.patience)) || pause.For(ctx, lockEvery) != nil {
			log.DebugContext(ctx, "the lock was asked for", "held", err == nil, "waited_ms", time.Since(begin).Milliseconds())
			return release, err
		}
	}
}

// same reports whether two states are the same to the last byte: somebody may have written one by hand, under the same
// serial.
func same(a, b *statefile.File) bool {
	x, errA := a.Bytes()
	y, errB := b.Bytes()
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// unchanged fails if the state isn't the one that was planned on.
func unchanged(planned, now *statefile.File, absent bool) error {
	if now == nil && absent {
		return nil
	}
	if now != nil && !absent && now.Serial == planned.Serial && now.Lineage == planned.Lineage && same(planned, now) {
		return nil
	}
	return &diag.Error{Category: diag.Concurrency, Summary: "the state has changed since the plan was made",
		Hint: "plan again"}
}

package plan

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/mark"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// planner makes one plan. Resources are planned when something first refers to them, so that what they
// depend on is planned before them.
type planner struct {
	ctx       context.Context
	log       *slog.Logger
	plan      *Plan
	eval      *eval.Evaluator
	providers *Providers
	done      map[string]planned // by the block's address within a module's instance
	recorded  map[string]*record
	wanted    map[string]bool // instances that the configuration has
	pending   map[string]bool // blocks that something will happen to, by address in the configuration
	createFst map[string]bool // blocks that are created first because what depends on them is
}

// planned is a block's value with what it depends on.
type planned struct {
	value cty.Value
	deps  []string
}

// record is what the state has of an instance.
type record struct {
	address  addr.Resource
	provider string
	current  *statefile.Instance
	deposed  []statefile.Instance
	moved    string // from where
	imported string // by which ID, in this plan
}

// Make makes a plan for a configuration and the state of it; recorded may be nil.
func Make(ctx context.Context, root *config.Module, inputs map[string]cty.Value, recorded *statefile.File,
	registry *provider.Registry, options Options) (*Plan, error) {
	absent := recorded == nil
	if absent {
		recorded = statefile.New()
	}
	providers := NewProviders(registry)
	p := &planner{ctx: ctx, log: oplog.From(ctx, "plan"), providers: providers, done: map[string]planned{},
		wanted: map[string]bool{}, pending: map[string]bool{}, createFst: map[string]bool{},
		plan: &Plan{Root: root, Inputs: inputs, Options: options, Recorded: recorded, Prior: recorded.Clone(),
			Absent: absent, registry: registry}}
	p.eval = eval.New(root, inputs, p)
	err := p.make()
	if err == nil {
		p.describe(root)
	}
	return p.plan, joined(err, providers.Close())
}

func (p *planner) make() error {
	if err := p.index(); err != nil {
		return err
	}
	p.findCreateFirst()
	if p.plan.Options.Destroy {
		return p.destroyAll()
	}
	if err := p.importAll(); err != nil {
		return err
	}
	if err := p.scope(p.eval.RootScope()); err != nil {
		return err
	}
	if err := p.checkImports(); err != nil {
		return err
	}
	if err := p.orphans(); err != nil {
		return err
	}
	if len(p.plan.Options.Targets) > 0 {
		return nil
	}
	return p.outputs()
}

// describe has the registry know the schemas of all that is configured, also in modules without instances, so
// that JSON can show it. Of what can't be asked JSON shows less.
func (p *planner) describe(m *config.Module) {
	names := slices.Collect(maps.Keys(m.Providers))
	for _, r := range m.Resources {
		names = append(names, r.Provider)
	}
	for _, name := range names {
		if source, err := Source(m, name); err == nil {
			_, _ = p.providers.Registry.Schemas(p.ctx, source)
		}
	}
	for _, call := range m.Calls {
		p.describe(call.Module)
	}
}

// index sorts the state's records by address, moved to where the configuration has them now.
func (p *planner) index() error {
	p.recorded = map[string]*record{}
	for i := range p.plan.Prior.Resources {
		r := &p.plan.Prior.Resources[i]
		base, err := r.Address()
		if err != nil {
			return diag.Stateful(err, "the state has an address that can't be read")
		}
		for j := range r.Instances {
			in := &r.Instances[j]
			address := base.WithKey(in.IndexKey)
			key := address.String()
			if p.recorded[key] == nil {
				p.recorded[key] = &record{address: address, provider: cmp.Or(in.Provider, r.Provider)}
			}
			if in.Deposed == "" {
				copied := *in
				p.recorded[key].current = &copied
			} else {
				p.recorded[key].deposed = append(p.recorded[key].deposed, *in)
			}
		}
	}
	return p.move(p.plan.Root, nil)
}

// scope plans all resources of a module's instance and of those that it calls.
func (p *planner) scope(s *eval.Scope) error {
	for _, r := range s.Module.SortedResources() {
		if !p.targeted(r.Address(s.Path, nil)) {
			continue
		}
		if _, err := p.Object(s, r); err != nil {
			return err
		}
	}
	for _, call := range s.Module.SortedCalls() {
		children, err := s.Children(call)
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := p.scope(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// targeted reports whether a block, or an instance, is among what is to be planned.
func (p *planner) targeted(a addr.Resource) bool {
	return len(p.plan.Options.Targets) == 0 || slices.ContainsFunc(p.plan.Options.Targets, func(t addr.Resource) bool {
		if len(t.Module) > len(a.Module) {
			return false
		}
		for i, step := range t.Module {
			if a.Module[i].Name != step.Name || step.Key != nil && a.Module[i].Key != step.Key {
				return false
			}
		}
		if t.Type == "" {
			return true
		}
		return len(t.Module) == len(a.Module) && t.Data == a.Data && t.Type == a.Type && t.Name == a.Name &&
			(t.Key == nil || a.Key == nil || t.Key == a.Key)
	})
}

// Object implements eval.Objects.
func (p *planner) Object(s *eval.Scope, r *config.Resource) (cty.Value, error) {
	whole := r.Address(s.Path, nil)
	key := whole.String()
	if known, ok := p.done[key]; ok {
		p.eval.Depend(known.deps...)
		p.eval.Depend(whole.Config())
		return known.value, nil
	}
	if err := p.ctx.Err(); err != nil {
		return cty.NilVal, err
	}
	end, err := p.eval.Begin(key)
	if err != nil {
		return cty.NilVal, err
	}
	first := len(p.plan.Changes)
	value, err := p.block(s, r)
	deps := end()
	if err != nil {
		return cty.NilVal, err
	}
	for _, c := range p.plan.Changes[first:] {
		if c.Block == r && c.Dependencies == nil {
			c.Dependencies = deps
		}
	}
	p.done[key] = planned{value, deps}
	p.eval.Depend(whole.Config())
	return value, nil
}

// block plans all instances of a block.
func (p *planner) block(s *eval.Scope, r *config.Resource) (cty.Value, error) {
	resolved, err := Resolve(s, r.Provider)
	if err != nil {
		return cty.NilVal, err
	}
	schemas, err := p.providers.Registry.Schemas(p.ctx, resolved.Provider)
	if err != nil {
		return cty.NilVal, p.wrap(err, r, r.Address(s.Path, nil))
	}
	kind := provider.Managed
	if r.Data {
		kind = provider.Data
	}
	schema := schemas.Of(kind, r.Type)
	if schema == nil {
		return cty.NilVal, diag.At(r.Range, r.Construct(), "the provider %s has no %s type %q", resolved.Provider,
			kind, r.Type)
	}
	if err := s.DependOn(r.DependsOn, r.Construct()); err != nil {
		return cty.NilVal, err
	}
	if err := s.CallDependencies(); err != nil {
		return cty.NilVal, err
	}
	repeats, _, err := s.Repeats(r.Count, r.ForEach, r.Construct())
	if err != nil {
		return cty.NilVal, err
	}
	configured, err := p.providers.Configured(p.ctx, resolved)
	if err != nil {
		return cty.NilVal, p.wrap(err, r, r.Address(s.Path, nil))
	}
	var keys []addr.Key
	var values []cty.Value
	for _, repeat := range repeats {
		c := &Change{Address: r.Address(s.Path, repeat.Key), Provider: resolved, Block: r, Scope: s, Repeat: repeat,
			Schema: schema}
		p.wanted[c.Address.String()] = true
		value, err := p.instance(c, configured)
		if err != nil {
			return cty.NilVal, p.wrap(err, r, c.Address)
		}
		keys, values = append(keys, repeat.Key), append(values, value)
	}
	return eval.Combine(keys, values, r.Count != nil, r.ForEach != nil), nil
}

// wrap says of which resource an error is.
func (p *planner) wrap(err error, r *config.Resource, a addr.Resource) error {
	return Explain(err, r, a)
}

// Explain says of which resource a provider's error is. Errors of the engine's own say it themselves.
func Explain(err error, r *config.Resource, a addr.Resource) error {
	fault, ok := err.(*provider.Fault)
	if !ok {
		return err
	}
	e := &diag.Error{Category: diag.Provider, Address: a.String(), Summary: fmt.Sprintf("%s: %s", a, fault.Summary),
		Detail: fault.Detail, Err: err}
	if fault.Transient {
		e.Category = diag.Transient
	}
	if r != nil {
		e.Range, e.Construct = r.Range, r.Construct()
	}
	return e
}

// note records a change, and whether anything is to be done.
func (p *planner) note(c *Change) {
	p.plan.Changes = append(p.plan.Changes, c)
	if p.log.Enabled(p.ctx, slog.LevelDebug) {
		p.log.DebugContext(p.ctx, "an object is planned", "address", c.Address.String(), "action", string(c.Action),
			"reason", c.Reason)
	}
	if c.Action != NoOp {
		p.pending[c.Address.Config()] = true
	}
}

// shown is a value as expressions see it: what is sensitive is marked.
func shown(value cty.Value, schema *provider.Schema, sensitive []cty.Path) cty.Value {
	return mark.Apply(value, append(schema.SensitivePaths(value), sensitive...))
}

package plan

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/mark"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// orphans plans to delete what the state has and the configuration doesn't.
func (p *planner) orphans() error {
	for _, key := range slices.Sorted(maps.Keys(p.recorded)) {
		rec := p.recorded[key]
		if p.wanted[key] || !p.targeted(rec.address) {
			continue
		}
		if rec.address.Data {
			p.plan.Prior.Remove(rec.address, "")
			continue
		}
		if err := p.leave(rec, p.forgotten(rec.address)); err != nil {
			return err
		}
	}
	return nil
}

// forgotten reports whether a removed block wants an object to be left alone.
func (p *planner) forgotten(a addr.Resource) bool {
	for module, path := p.plan.Root, 0; module != nil; path++ {
		for _, r := range module.Removed {
			from := r.From
			from.Module = append(slices.Clone(a.Module[:path]), from.Module...)
			match := from.Type == "" && len(a.Module) >= len(from.Module) &&
				a.Module[:len(from.Module)].Config() == from.Module.Config() || from.Type != "" && from.Config() == a.Config()
			if match && !r.Destroy {
				return true
			}
		}
		if path >= len(a.Module) || module.Calls[a.Module[path].Name] == nil {
			break
		}
		module = module.Calls[a.Module[path].Name].Module
	}
	return false
}

// leave plans to delete a record's objects, or to forget them.
func (p *planner) leave(rec *record, forget bool) error {
	c, configured, err := p.leaving(rec)
	if err != nil {
		return Explain(err, nil, rec.address)
	}
	if rec.current != nil {
		if err := p.refresh(c, rec, configured); err != nil {
			return Explain(err, nil, rec.address)
		}
		forget = forget || rec.current.SkipDestroy
		c.Dependencies, c.CreateFirst = rec.current.Dependencies, rec.current.CreateBeforeDestroy
		c.After, c.Action = cty.NullVal(c.Schema.CtyType()), Delete
		c.Sensitive = parsePaths(rec.current.SensitiveAttributes)
		c.PriorSensitive = c.Sensitive
		if forget {
			c.Action = Forget
		}
		if !c.Before.IsNull() {
			if p.plan.Options.RefreshOnly {
				c.Action, c.After = NoOp, c.Before
			}
			if block := p.blockOf(rec.address); c.Action == Delete && block != nil && block.Lifecycle.PreventDestroy {
				return prevented(&Change{Address: rec.address, Block: block})
			}
			p.note(c)
		}
	}
	return p.deposed(c, forget)
}

// blockOf is the block that an object's address belongs to, nil if the configuration has none any more. It is there
// for an object that only its count or for_each has left out, too.
func (p *planner) blockOf(a addr.Resource) *config.Resource {
	if m := p.plan.Root.Child(a.Module); m != nil {
		return m.Resources[a.Local()]
	}
	return nil
}

// leaving finds out which provider has a record's objects.
func (p *planner) leaving(rec *record) (*Change, provider.Provider, error) {
	source, alias, err := addr.ParseProviderInState(rec.provider)
	if err != nil {
		return nil, nil, diag.Stateful(err, "the record of %s can't be read", rec.address)
	}
	resolved := p.findProvider(p.eval.RootScope(), source, alias, rec.address.Module)
	schemas, err := p.providers.Registry.Schemas(p.ctx, source)
	if err != nil {
		return nil, nil, err
	}
	schema := schemas.Resources[rec.address.Type]
	if schema == nil {
		return nil, nil, &provider.Fault{Summary: "the provider doesn't have the type any more"}
	}
	configured, err := p.providers.Configured(p.ctx, resolved)
	return &Change{Address: rec.address, Provider: resolved, Schema: schema, Before: cty.NullVal(schema.CtyType())},
		configured, err
}

// findProvider finds a provider's configuration by what the state says of it.
func (p *planner) findProvider(root *eval.Scope, source addr.Provider, alias string, module addr.Module) Resolved {
	scopes := []*eval.Scope{root}
	for s, path := root, module; len(path) > 0; path = path[1:] {
		child, err := p.eval.Find(append(slices.Clone(s.Path), path[0]))
		if err != nil || child == nil {
			break
		}
		scopes, s = append(scopes, child), child
	}
	for _, s := range slices.Backward(scopes) {
		for _, block := range s.Module.Providers {
			if from, err := Source(s.Module, block.Name); err == nil && from == source && block.Alias == alias {
				return Resolved{source, alias, block, s}
			}
		}
	}
	return Resolved{Provider: source, Alias: alias, Scope: root}
}

// deposed plans to delete the objects that were replaced and are still there, or to forget them.
func (p *planner) deposed(c *Change, forget bool) error {
	rec := p.recorded[c.Address.String()]
	if rec == nil || p.plan.Options.RefreshOnly {
		return nil
	}
	configured, err := p.providers.Configured(p.ctx, c.Provider)
	if err != nil {
		return err
	}
	for _, in := range rec.deposed {
		value, err := configured.Upgrade(p.ctx, c.Address.Type, in.SchemaVersion, in.Attributes)
		if err != nil {
			return err
		}
		action, paths := Delete, parsePaths(in.SensitiveAttributes)
		if forget || in.SkipDestroy {
			action = Forget
		}
		p.note(&Change{Address: c.Address, Deposed: in.Deposed, Provider: c.Provider, Schema: c.Schema, Action: action,
			Reason: "replaced before", Before: value, After: cty.NullVal(value.Type()), PriorPrivate: in.Private,
			Dependencies: in.Dependencies, Block: c.Block, Sensitive: paths, PriorSensitive: paths})
	}
	return nil
}

// destroyAll plans to delete everything that is recorded.
func (p *planner) destroyAll() error {
	p.eval.Objects = recordedObjects{p}
	for _, key := range slices.Sorted(maps.Keys(p.recorded)) {
		rec := p.recorded[key]
		if !p.targeted(rec.address) {
			continue
		}
		if rec.address.Data {
			p.plan.Prior.Remove(rec.address, "")
			continue
		}
		if err := p.leave(rec, false); err != nil {
			return err
		}
	}
	if len(p.plan.Options.Targets) > 0 {
		return nil
	}
	for name, o := range p.plan.Recorded.Outputs {
		before, err := recordedOutput(o)
		if err != nil {
			return err
		}
		p.plan.Outputs = append(p.plan.Outputs, Output{name, Delete, before, cty.NullVal(cty.DynamicPseudoType), o.Sensitive})
	}
	slices.SortFunc(p.plan.Outputs, byName)
	return nil
}

// recordedObjects are the values that the state has, for the configurations of providers during a destroy.
type recordedObjects struct{ p *planner }

// Object implements eval.Objects.
func (o recordedObjects) Object(s *eval.Scope, r *config.Resource) (cty.Value, error) {
	return ValueOf(o.p.ctx, o.p.providers.Registry, o.p.plan.Prior, s, r)
}

// findCreateFirst finds the blocks with create_before_destroy, and those that they depend on, which can't be
// deleted first either. References are looked at as they are written.
func (p *planner) findCreateFirst() {
	follower{p.createFst, map[string]bool{}}.module(p.plan.Root, nil)
}

// outputs compares the root's outputs with those recorded.
func (p *planner) outputs() error {
	before := p.plan.Recorded.Outputs
	for _, name := range slices.Sorted(maps.Keys(p.plan.Root.Outputs)) {
		value, err := p.eval.RootScope().Output(name)
		if err != nil {
			return err
		}
		bare, paths := mark.Paths(value)
		o := Output{Name: name, Action: Create, Before: cty.NullVal(cty.DynamicPseudoType), After: bare,
			Sensitive: len(paths) > 0 || p.plan.Root.Outputs[name].Sensitive}
		if recorded, ok := before[name]; ok {
			if o.Before, err = recordedOutput(recorded); err != nil {
				return err
			}
			o.Action = Update
			if o.Before.RawEquals(bare) && recorded.Sensitive == o.Sensitive {
				o.Action = NoOp
			}
		} else if bare.IsKnown() && bare.IsNull() {
			o.Action = NoOp // an output that is null isn't recorded
		}
		p.plan.Outputs = append(p.plan.Outputs, o)
	}
	for name, recorded := range before {
		if p.plan.Root.Outputs[name] == nil {
			value, err := recordedOutput(recorded)
			if err != nil {
				return err
			}
			p.plan.Outputs = append(p.plan.Outputs, Output{name, Delete, value, cty.NullVal(cty.DynamicPseudoType),
				recorded.Sensitive})
		}
	}
	slices.SortFunc(p.plan.Outputs, byName)
	return nil
}

func recordedOutput(o statefile.Output) (cty.Value, error) {
	t, err := ctyjson.UnmarshalType(o.Type)
	if err != nil {
		return cty.NilVal, diag.Stateful(err, "an output's type in the state can't be read")
	}
	v, err := ctyjson.Unmarshal(o.Value, t)
	if err != nil {
		return cty.NilVal, diag.Stateful(err, "an output's value in the state can't be read")
	}
	return v, nil
}

package plan

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/provider"
)

// move gives records the addresses that moved blocks say, and those of blocks that got or lost count.
func (p *planner) move(m *config.Module, path addr.Module) error {
	// Blocks may lead on from where others lead, in whichever order they stand.
	for round := 0; p.moveOnce(m, path); round++ {
		if round > len(m.Moved) {
			return diag.At(m.Moved[0].Range, "moved", "the moved blocks lead in a circle")
		}
	}
	for _, call := range m.SortedCalls() {
		if err := p.move(call.Module, path.Child(call.Name, nil)); err != nil {
			return err
		}
	}
	p.moveCounted(m, path)
	return nil
}

// moveOnce follows each moved block of a module once, and reports whether one led anywhere.
func (p *planner) moveOnce(m *config.Module, path addr.Module) (moved bool) {
	for _, mv := range m.Moved {
		for _, key := range slices.Collect(keysOf(p.recorded)) {
			rec := p.recorded[key]
			to, ok := movedTo(rec.address, mv, path)
			if ok && p.recorded[to.String()] == nil {
				p.rename(rec, to)
				moved = true
			}
		}
	}
	return moved
}

func keysOf(all map[string]*record) func(func(string) bool) {
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return slices.Values(keys)
}

// movedTo is where a moved block sends an address.
func movedTo(a addr.Resource, mv config.Moved, path addr.Module) (addr.Resource, bool) {
	n := len(path)
	if len(a.Module) < n || a.Module[:n].Config() != path.Config() {
		return a, false
	}
	inner := a
	inner.Module = a.Module[n:]
	to := a
	if mv.From.Type == "" {
		k := len(mv.From.Module)
		if len(inner.Module) < k {
			return a, false
		}
		for i, step := range mv.From.Module {
			if inner.Module[i].Name != step.Name || (step.Key != nil || i == k-1 &&
				mv.To.Module[len(mv.To.Module)-1].Key != nil) &&
				inner.Module[i].Key != step.Key {
				return a, false
			}
		}
		moved := slices.Clone(mv.To.Module)
		if last := len(moved) - 1; moved[last].Key == nil && mv.From.Module[k-1].Key == nil {
			moved[last].Key = inner.Module[k-1].Key
		}
		to.Module = slices.Concat(a.Module[:n], moved, inner.Module[k:])
		return to, true
	}
	if inner.Whole() != mv.From.Whole() || inner.Data != mv.From.Data ||
		(mv.From.Key != nil || mv.To.Key != nil) && inner.Key != mv.From.Key {
		return a, false
	}
	to.Module, to.Type, to.Name = slices.Concat(a.Module[:n], mv.To.Module), mv.To.Type, mv.To.Name
	if mv.To.Key != nil || mv.From.Key != nil {
		to.Key = mv.To.Key
	}
	return to, to.Type == a.Type // another type would need the provider's help
}

// moveCounted moves x to x[0] when x got a count, and back when it lost it.
func (p *planner) moveCounted(m *config.Module, path addr.Module) {
	for _, r := range m.SortedResources() {
		from, to := r.Address(path, 0), r.Address(path, nil)
		if r.Count != nil {
			from, to = to, from
		} else if r.ForEach != nil {
			continue
		}
		if rec := p.recorded[from.String()]; rec != nil && p.recorded[to.String()] == nil {
			p.rename(rec, to)
		}
	}
}

func (p *planner) rename(rec *record, to addr.Resource) {
	from := rec.address
	delete(p.recorded, from.String())
	if rec.address = to; rec.moved == "" {
		rec.moved = from.String()
	}
	p.recorded[to.String()] = rec
	if rec.current != nil {
		p.plan.Prior.Remove(from, "")
		p.plan.Prior.Set(to, rec.provider, *rec.current)
	}
	for _, in := range rec.deposed {
		p.plan.Prior.Remove(from, in.Deposed)
		p.plan.Prior.Set(to, rec.provider, in)
	}
}

// importAll takes the objects that import blocks name into the state that is planned on.
func (p *planner) importAll() error {
	for _, i := range p.plan.Options.Imports {
		if p.recorded[i.To.String()] != nil {
			return &provider.Fault{Summary: "the state has a " + i.To.String() + " already"}
		}
		s, err := p.eval.Find(i.To.Module)
		if err != nil {
			return err
		}
		if s == nil {
			return Explain(&provider.Fault{Summary: "the configuration has no such module"}, nil, i.To)
		}
		if err := p.importOne(s, i.To, i.ID); err != nil {
			return Explain(err, nil, i.To)
		}
	}
	for _, block := range p.plan.Root.Imports {
		if p.recorded[block.To.String()] != nil || !p.targeted(block.To) {
			continue
		}
		s, err := p.eval.Find(block.To.Module)
		if err != nil || s == nil {
			return err
		}
		id, err := p.eval.RootScope().Eval(block.ID, eval.Repeat{}, "import")
		if err != nil {
			return err
		}
		if id, _ = id.Unmark(); !id.IsKnown() || id.IsNull() || id.Type() != cty.String {
			return &provider.Fault{Summary: "the ID to import isn't known"}
		}
		if err := p.importOne(s, block.To, id.AsString()); err != nil {
			return Explain(err, nil, block.To)
		}
	}
	return nil
}

// checkImports wants the configuration to have what was imported: what it doesn't have would be destroyed next.
func (p *planner) checkImports() error {
	for _, key := range slices.Sorted(maps.Keys(p.recorded)) {
		rec := p.recorded[key]
		if rec.imported != "" && !p.wanted[key] && p.targeted(rec.address) {
			return Explain(&provider.Fault{Summary: "the configuration has no such instance to import into",
				Detail: "count or for_each of its block, or of its module, doesn't make it"}, nil, rec.address)
		}
	}
	return nil
}

func (p *planner) importOne(s *eval.Scope, to addr.Resource, id string) error {
	block := s.Module.Resources[to.Local()]
	if block == nil {
		return &provider.Fault{Summary: "there is no block in the configuration to import into"}
	}
	resolved, err := Resolve(s, block.Provider)
	if err != nil {
		return err
	}
	configured, err := p.providers.Configured(p.ctx, resolved)
	if err != nil {
		return err
	}
	schemas, err := configured.Schemas(p.ctx)
	if err != nil {
		return err
	}
	schema := schemas.Resources[to.Type]
	if schema == nil {
		return &provider.Fault{Summary: "the provider has no such type"}
	}
	object, err := configured.Import(p.ctx, to.Type, id)
	if err != nil {
		return err
	}
	if object, err = configured.Read(p.ctx, provider.ReadRequest{Type: to.Type, Object: object}); err != nil {
		return err
	}
	if object.Value.IsNull() {
		return &provider.Fault{Summary: "there is no object with the ID " + id}
	}
	in, err := Recorded(object.Value, schema, nil)
	if err != nil {
		return err
	}
	in.Private = object.Private
	p.recorded[to.String()] = &record{address: to, provider: resolved.InState(), current: new(in), imported: id}
	p.plan.Prior.Set(to, resolved.InState(), in)
	return nil
}

package plan

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// Propose merges what a configuration says with what is there: what the configuration leaves out and the
// provider decides stays as it is.
func Propose(b *provider.Block, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	if prior.IsNull() || !prior.IsKnown() {
		prior = b.Empty()
	}
	values := map[string]cty.Value{}
	for name, a := range b.Attributes {
		values[name] = proposeAttribute(a, prior.GetAttr(name), config.GetAttr(name))
	}
	for name, n := range b.Blocks {
		values[name] = proposeNested(n.Nesting, prior.GetAttr(name), config.GetAttr(name), func(p, c cty.Value) cty.Value {
			return Propose(n.Block, p, c)
		})
	}
	return cty.ObjectVal(values)
}

func proposeAttribute(a *provider.Attribute, prior, config cty.Value) cty.Value {
	switch {
	case a.Computed && config.IsKnown() && config.IsNull():
		return prior
	case a.Nested == nil || config.IsNull():
		return config
	}
	inner := &provider.Block{Attributes: a.Nested.Attributes}
	return proposeNested(a.Nested.Nesting, prior, config, func(p, c cty.Value) cty.Value {
		if c.IsNull() {
			return c
		}
		return Propose(inner, p, c)
	})
}

// proposeNested merges collections: lists by place, maps by key, sets by what fits.
func proposeNested(nesting provider.Nesting, prior, config cty.Value, merge func(p, c cty.Value) cty.Value) cty.Value {
	if !config.IsKnown() || config.IsNull() {
		return config
	}
	t := config.Type()
	if nesting == provider.Single || nesting == provider.Group {
		return merge(prior, config)
	}
	if !config.CanIterateElements() || config.LengthInt() == 0 {
		return config
	}
	known := prior.IsKnown() && !prior.IsNull() && prior.CanIterateElements()
	var keys []cty.Value
	var values []cty.Value
	used := map[int]bool{}
	for it := config.ElementIterator(); it.Next(); {
		key, element := it.Element()
		before := cty.NullVal(element.Type())
		switch {
		case known && nesting == provider.Set:
			before = fitting(prior, element, merge, used)
		case known:
			if at, err := (cty.Path{elementStep(t, key)}).Apply(prior); err == nil {
				before = at
			}
		}
		keys, values = append(keys, key), append(values, merge(before, element))
	}
	return rebuild(t, keys, values)
}

func elementStep(t cty.Type, key cty.Value) cty.PathStep {
	if t.IsObjectType() {
		return cty.GetAttrStep{Name: key.AsString()}
	}
	return cty.IndexStep{Key: key}
}

// fitting finds an element of a set that a configured one can be: merged with it, it stays as it was.
func fitting(prior, element cty.Value, merge func(p, c cty.Value) cty.Value, used map[int]bool) cty.Value {
	i := -1
	for it := prior.ElementIterator(); it.Next(); {
		i++
		_, candidate := it.Element()
		if !used[i] && merge(candidate, element).RawEquals(candidate) {
			used[i] = true
			return candidate
		}
	}
	return cty.NullVal(element.Type())
}

func rebuild(t cty.Type, keys, values []cty.Value) cty.Value {
	switch {
	case t.IsListType():
		return cty.ListVal(values)
	case t.IsSetType():
		return cty.SetVal(values)
	case t.IsTupleType():
		return cty.TupleVal(values)
	}
	all := map[string]cty.Value{}
	for i, k := range keys {
		all[k.AsString()] = values[i]
	}
	if t.IsMapType() {
		return cty.MapVal(all)
	}
	return cty.ObjectVal(all)
}

// Unsettled is a configuration in which what the provider decides is unknown.
func Unsettled(b *provider.Block, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	values := config.AsValueMap()
	for name, a := range b.Attributes {
		if a.Computed && values[name].IsNull() {
			values[name] = cty.UnknownVal(a.CtyType())
		}
	}
	for name, n := range b.Blocks {
		values[name] = proposeNested(n.Nesting, cty.NullVal(values[name].Type()), values[name],
			func(_, c cty.Value) cty.Value { return Unsettled(n.Block, c) })
	}
	return cty.ObjectVal(values)
}

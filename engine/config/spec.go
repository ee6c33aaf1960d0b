package config

import (
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// Spec says how a block of a provider's schema is read.
func Spec(b *provider.Block) hcldec.Spec { return spec(b) }

func spec(b *provider.Block) hcldec.ObjectSpec {
	s := hcldec.ObjectSpec{}
	for name, a := range b.Attributes {
		s[name] = &hcldec.AttrSpec{Name: name, Type: attributeType(a), Required: a.Required}
	}
	for name, n := range b.Blocks {
		s[name] = blockSpec(name, n)
	}
	return s
}

func blockSpec(name string, n *provider.NestedBlock) hcldec.Spec {
	inner := spec(n.Block)
	dynamic := n.CtyType().HasDynamicTypes()
	switch n.Nesting {
	case provider.List:
		if dynamic {
			return &hcldec.BlockTupleSpec{TypeName: name, Nested: inner, MinItems: n.Min, MaxItems: n.Max}
		}
		return &hcldec.BlockListSpec{TypeName: name, Nested: inner, MinItems: n.Min, MaxItems: n.Max}
	case provider.Set:
		return &hcldec.BlockSetSpec{TypeName: name, Nested: inner, MinItems: n.Min, MaxItems: n.Max}
	case provider.Map:
		if dynamic {
			return &hcldec.BlockObjectSpec{TypeName: name, Nested: inner, LabelNames: []string{"key"}}
		}
		return &hcldec.BlockMapSpec{TypeName: name, Nested: inner, LabelNames: []string{"key"}}
	case provider.Group:
		return &hcldec.DefaultSpec{Primary: &hcldec.BlockSpec{TypeName: name, Nested: inner},
			Default: &hcldec.LiteralSpec{Value: n.Empty()}}
	}
	return &hcldec.BlockSpec{TypeName: name, Nested: inner, Required: n.Min > 0}
}

// attributeType is an attribute's type for what is written, in which an object may lack what isn't required.
func attributeType(a *provider.Attribute) cty.Type {
	if a.Nested == nil {
		return a.Type
	}
	types := map[string]cty.Type{}
	var optional []string
	for name, inner := range a.Nested.Attributes {
		types[name] = attributeType(inner)
		if !inner.Required {
			optional = append(optional, name)
		}
	}
	object := cty.ObjectWithOptionalAttrs(types, optional)
	switch a.Nested.Nesting {
	case provider.List:
		return cty.List(object)
	case provider.Set:
		return cty.Set(object)
	case provider.Map:
		return cty.Map(object)
	}
	return object
}

package provider

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// Schemas are what a provider says of itself.
type Schemas struct {
	Provider  *Schema
	Resources map[string]*Schema
	Data      map[string]*Schema

	// PlansDestroy is for providers that want Plan to be called before an object is deleted.
	PlansDestroy bool
}

// Of returns a type's schema, nil if the provider has no such type.
func (s *Schemas) Of(kind Kind, typeName string) *Schema {
	if kind == Data {
		return s.Data[typeName]
	}
	return s.Resources[typeName]
}

// Schema is a block with the version of how it is recorded in states.
type Schema struct {
	Version int64
	*Block
}

// Block says which attributes and blocks there are.
type Block struct {
	Attributes map[string]*Attribute
	Blocks     map[string]*NestedBlock
}

// Attribute is one attribute. It has a Type, or a Nested one with attributes of its own.
type Attribute struct {
	Type   cty.Type
	Nested *NestedType

	Required, Optional, Computed, Sensitive, WriteOnly bool
}

// Nesting says how often something stands in a block, and how it is found again.
type Nesting int

// The ways of nesting.
const (
	Single Nesting = iota + 1
	List
	Set
	Map
	Group // as Single, and there even if the configuration has none
)

// NestedType is an attribute's type whose attributes have their own rules.
type NestedType struct {
	Attributes map[string]*Attribute
	Nesting    Nesting
}

// NestedBlock is a block within another.
type NestedBlock struct {
	*Block
	Nesting  Nesting
	Min, Max int
}

// CtyType is the type of an attribute's value.
func (a *Attribute) CtyType() cty.Type {
	if a.Nested == nil {
		return a.Type
	}
	return nested(a.Nested.Object(), a.Nested.Nesting)
}

// Object is the type of one of a nested type's objects.
func (n *NestedType) Object() cty.Type { return (&Block{Attributes: n.Attributes}).CtyType() }

func nested(object cty.Type, nesting Nesting) cty.Type {
	switch nesting {
	case List:
		if object.HasDynamicTypes() {
			return cty.DynamicPseudoType
		}
		return cty.List(object)
	case Set:
		return cty.Set(object)
	case Map:
		if object.HasDynamicTypes() {
			return cty.DynamicPseudoType
		}
		return cty.Map(object)
	}
	return object
}

// CtyType is the type of a block's objects.
func (b *Block) CtyType() cty.Type {
	types := map[string]cty.Type{}
	for name, a := range b.Attributes {
		types[name] = a.CtyType()
	}
	for name, n := range b.Blocks {
		types[name] = nested(n.CtyType(), n.Nesting)
	}
	return cty.Object(types)
}

// Empty is the block's object that a configuration without anything in it makes.
func (b *Block) Empty() cty.Value {
	values := map[string]cty.Value{}
	for name, a := range b.Attributes {
		values[name] = cty.NullVal(a.CtyType())
	}
	for name, n := range b.Blocks {
		values[name] = n.empty()
	}
	return cty.ObjectVal(values)
}

func (n *NestedBlock) empty() cty.Value {
	object := n.CtyType()
	switch n.Nesting {
	case Group:
		return n.Empty()
	case List:
		if object.HasDynamicTypes() {
			return cty.EmptyTupleVal
		}
		return cty.ListValEmpty(object)
	case Set:
		return cty.SetValEmpty(object)
	case Map:
		if object.HasDynamicTypes() {
			return cty.EmptyObjectVal
		}
		return cty.MapValEmpty(object)
	}
	return cty.NullVal(object)
}

// SensitivePaths lists the paths in value that the schema calls sensitive. A set with something sensitive in it is
// so as a whole, since its elements have no names.
func (b *Block) SensitivePaths(value cty.Value) []cty.Path {
	var paths []cty.Path
	b.each(value, nil, func(a *Attribute, path cty.Path) {
		if !a.Sensitive {
			return
		}
		path = outsideOfSets(path)
		if !slices.ContainsFunc(paths, path.Equals) {
			paths = append(paths, path)
		}
	})
	return paths
}

// outsideOfSets is a path up to the first set that it leads into.
func outsideOfSets(path cty.Path) cty.Path {
	for i, step := range path {
		if in, ok := step.(cty.IndexStep); ok && in.Key.Type() != cty.String && in.Key.Type() != cty.Number {
			return path[:i]
		}
	}
	return path
}

// each calls f for each attribute of a value, with its path.
func (b *Block) each(value cty.Value, path cty.Path, f func(*Attribute, cty.Path)) {
	if value.IsNull() || !value.IsKnown() {
		return
	}
	value, _ = value.Unmark()
	for name, a := range b.Attributes {
		at := path.Copy().GetAttr(name)
		f(a, at)
		if a.Nested != nil {
			inner := &Block{Attributes: a.Nested.Attributes}
			eachOf(value.GetAttr(name), a.Nested.Nesting, at, func(v cty.Value, p cty.Path) { inner.each(v, p, f) })
		}
	}
	for name, n := range b.Blocks {
		eachOf(value.GetAttr(name), n.Nesting, path.Copy().GetAttr(name), func(v cty.Value, p cty.Path) { n.each(v, p, f) })
	}
}

func eachOf(value cty.Value, nesting Nesting, path cty.Path, f func(cty.Value, cty.Path)) {
	value, _ = value.Unmark()
	if value.IsNull() || !value.IsKnown() {
		return
	}
	if nesting == Single || nesting == Group {
		f(value, path)
		return
	}
	if !value.CanIterateElements() {
		return
	}
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		f(element, path.Copy().Index(key))
	}
}

// WithoutWriteOnly returns value with null for what only goes to the provider and is never kept.
func (b *Block) WithoutWriteOnly(value cty.Value) cty.Value {
	var paths []cty.Path
	b.each(value, nil, func(a *Attribute, path cty.Path) {
		if a.WriteOnly {
			paths = append(paths, path)
		}
	})
	if len(paths) == 0 {
		return value
	}
	changed, err := cty.Transform(value, func(path cty.Path, v cty.Value) (cty.Value, error) {
		for _, p := range paths {
			if path.Equals(p) {
				return cty.NullVal(v.Type()), nil
			}
		}
		return v, nil
	})
	if err != nil {
		return value
	}
	return changed
}

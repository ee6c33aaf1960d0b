package addr

import (
	"fmt"
	"math"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Parse reads the address of a resource or of a module. For a module's, Type is empty.
func Parse(text string) (Resource, error) {
	traversal, problems := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if problems.HasErrors() {
		return Resource{}, fmt.Errorf("%q isn't an address: %s", text, problems[0].Detail)
	}
	return OfTraversal(traversal)
}

// OfTraversal reads an address from an expression.
func OfTraversal(t hcl.Traversal) (Resource, error) {
	var r Resource
	p := parts{t}
	for p.peek() == "module" {
		p.name()
		name, ok := p.name()
		if !ok {
			return r, fmt.Errorf("an address has module.NAME")
		}
		r.Module = r.Module.Child(name, p.key())
	}
	if len(p.left) == 0 && len(r.Module) > 0 {
		return r, nil
	}
	if p.peek() == "data" {
		p.name()
		r.Data = true
	}
	typeName, okType := p.name()
	name, okName := p.name()
	if !okType || !okName {
		return r, fmt.Errorf("an address is TYPE.NAME or module.NAME.TYPE.NAME")
	}
	r.Type, r.Name, r.Key = typeName, name, p.key()
	if len(p.left) > 0 {
		return r, fmt.Errorf("the address of %s goes on where it should end", r)
	}
	return r, nil
}

// parts reads a traversal step by step.
type parts struct{ left hcl.Traversal }

func (p *parts) peek() string {
	if len(p.left) == 0 {
		return ""
	}
	switch s := p.left[0].(type) {
	case hcl.TraverseRoot:
		return s.Name
	case hcl.TraverseAttr:
		return s.Name
	}
	return ""
}

func (p *parts) name() (string, bool) {
	name := p.peek()
	if name != "" {
		p.left = p.left[1:]
	}
	return name, name != ""
}

func (p *parts) key() Key {
	if len(p.left) == 0 {
		return nil
	}
	index, ok := p.left[0].(hcl.TraverseIndex)
	if !ok {
		return nil
	}
	key, ok := KeyOf(index.Key)
	if ok {
		p.left = p.left[1:]
	}
	return key
}

// KeyOf is the key that a known string or whole number is.
func KeyOf(v cty.Value) (Key, bool) {
	v, _ = v.Unmark()
	switch {
	case v.IsNull() || !v.IsKnown():
		return nil, false
	case v.Type() == cty.String:
		return v.AsString(), true
	case v.Type() == cty.Number:
		n, accuracy := v.AsBigFloat().Int64()
		return int(n), accuracy == 0 && n >= 0 && n <= math.MaxInt32
	}
	return nil, false
}

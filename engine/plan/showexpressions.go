package plan

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/provider"
)

// expressionJSON is an expression: the value of one that refers to nothing, or what it refers to.
type expressionJSON struct {
	Constant   json.RawMessage `json:"constant_value,omitempty"`
	References []string        `json:"references,omitempty"`
}

func expression(e hcl.Expression) expressionJSON {
	var shown expressionJSON
	for _, t := range e.Variables() {
		shown.References = append(shown.References, referenced(t)...)
	}
	if len(shown.References) > 0 {
		return shown
	}
	if v, problems := e.Value(nil); !problems.HasErrors() {
		shown.Constant, _ = knownJSON(v) // what can't be shown is left out
	}
	return shown
}

// expressions are those of a body's attributes and blocks. Dynamic blocks aren't among them, nor are blocks at
// all if the schema isn't known.
func expressions(body hcl.Body, schema *provider.Block) map[string]any {
	all := map[string]any{}
	if schema == nil {
		attributes, _ := body.JustAttributes() // its problem is that there are blocks
		for name, a := range attributes {
			all[name] = expression(a.Expr)
		}
		return all
	}
	var want hcl.BodySchema
	for name := range schema.Attributes {
		want.Attributes = append(want.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name, b := range schema.Blocks {
		header := hcl.BlockHeaderSchema{Type: name}
		if b.Nesting == provider.Map {
			header.LabelNames = []string{"key"}
		}
		want.Blocks = append(want.Blocks, header)
	}
	content, _, _ := body.PartialContent(&want) // what is wrong in it was found when it was evaluated
	for name, a := range content.Attributes {
		all[name] = expression(a.Expr)
	}
	for _, b := range content.Blocks {
		nested := schema.Blocks[b.Type]
		inner := expressions(b.Body, nested.Block)
		switch nested.Nesting {
		case provider.List, provider.Set:
			list, _ := all[b.Type].([]any)
			all[b.Type] = append(list, inner)
		case provider.Map:
			if all[b.Type] == nil {
				all[b.Type] = map[string]any{}
			}
			all[b.Type].(map[string]any)[b.Labels[0]] = inner
		default:
			all[b.Type] = inner
		}
	}
	return all
}

// arguments are the expressions of a module's call.
func arguments(c *config.Call) map[string]any {
	all := map[string]any{}
	attributes, _ := c.Body.JustAttributes() // problems were found when it was evaluated
	for name, a := range attributes {
		all[name] = expression(a.Expr)
	}
	return all
}

// referenced lists what a reference names, from the whole of it to the object that it begins with.
func referenced(t hcl.Traversal) []string {
	subject := min(2, len(t))
	switch t.RootName() {
	case "self":
		subject = 1
	case "data":
		subject = min(3, len(t))
	}
	inModule := t.RootName() == "module"
	object := t.RootName() == "data" || inModule || !builtIn(t.RootName())
	keyed := false
	if object && subject < len(t) {
		if _, ok := t[subject].(hcl.TraverseIndex); ok {
			subject, keyed = subject+1, true
		}
	}
	instance := subject
	if inModule && subject < len(t) {
		if _, ok := t[subject].(hcl.TraverseAttr); ok {
			subject++
		}
	}
	var all []string
	for n := len(t); n >= subject; n-- {
		all = append(all, reference(t[:n]))
	}
	switch {
	case instance < subject:
		all = append(all, reference(t[:instance]))
	case keyed:
		all = append(all, reference(t[:subject-1]))
	}
	return all
}

// builtIn reports whether a root name is none of a resource's type.
func builtIn(root string) bool {
	switch root {
	case "var", "local", "path", "terraform", "tofu", "count", "each", "self":
		return true
	}
	return false
}

// reference is a reference as it is written.
func reference(t hcl.Traversal) string {
	var b strings.Builder
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			if key, ok := addr.KeyOf(s.Key); ok {
				b.WriteString(addr.KeyString(key))
			}
		}
	}
	return b.String()
}

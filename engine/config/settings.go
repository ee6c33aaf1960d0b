package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
)

// readSettings reads a terraform block.
func (m *Module) readSettings(b *hcl.Block) error {
	c, err := content(b, []string{"required_version", "experiments", "language"},
		[]string{"required_providers", "backend+", "cloud", "provider_meta+", "encryption"})
	if err != nil {
		return err
	}
	for _, name := range []string{"experiments", "language"} {
		if a, ok := c.Attributes[name]; ok {
			return diag.At(a.NameRange, "terraform", "%s isn't supported", name)
		}
	}
	for _, inner := range c.Blocks {
		switch inner.Type {
		case "required_providers":
			err = m.readRequired(inner)
		case "backend":
			if kind := inner.Labels[0]; kind != "local" && kind != "http" {
				return diag.At(inner.DefRange, constructOf(inner), "the backend %q isn't supported", kind).
					WithHint("use local or http")
			}
			if m.Backend != nil {
				return diag.At(inner.DefRange, constructOf(inner), "there is a second backend; the first is at %s", m.Backend.Range)
			}
			m.Backend = &Backend{inner.Labels[0], inner.Body, inner.DefRange}
		default:
			err = unsupported(inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Module) readRequired(b *hcl.Block) error {
	attributes, problems := b.Body.JustAttributes()
	if err := diag.OfHCL(problems, "required_providers"); err != nil {
		return err
	}
	for name, a := range attributes {
		pairs, problems := hcl.ExprMap(a.Expr)
		if problems.HasErrors() {
			return diag.At(a.NameRange, "required_providers", "the provider %q needs { source = …, version = … }", name)
		}
		r := Required{Range: a.Range}
		for _, p := range pairs {
			key := hcl.ExprAsKeyword(p.Key)
			if key == "" {
				if v, problems := p.Key.Value(nil); !problems.HasErrors() && v.Type() == cty.String {
					key = v.AsString()
				}
			}
			if key == "configuration_aliases" {
				continue // says only which names the caller may hand over
			}
			v, problems := p.Value.Value(nil)
			if err := diag.OfHCL(problems, "required_providers"); err != nil {
				return err
			}
			if v.IsNull() || v.Type() != cty.String {
				return diag.At(p.Value.Range(), "required_providers", "%s is a string", key)
			}
			switch key {
			case "source":
				r.Source = v.AsString()
				if _, err := addr.ParseProvider(r.Source); err != nil {
					return diag.At(p.Value.Range(), "required_providers", "%v", err)
				}
			case "version":
				r.Version = v.AsString()
			}
		}
		m.Required[name] = r
	}
	return nil
}

// readRefactoring reads moved, removed and import blocks.
func (m *Module) readRefactoring(b *hcl.Block) error {
	switch b.Type {
	case "moved":
		c, err := content(b, []string{"!from", "!to"}, nil)
		if err != nil {
			return err
		}
		moved := Moved{Range: b.DefRange}
		if moved.From, err = address(c.Attributes["from"], "moved"); err != nil {
			return err
		}
		if moved.To, err = address(c.Attributes["to"], "moved"); err != nil {
			return err
		}
		m.Moved = append(m.Moved, moved)
	case "removed":
		return m.readRemoved(b)
	case "import":
		c, err := content(b, []string{"!to", "!id", "for_each", "provider"}, nil)
		if err != nil {
			return err
		}
		for _, name := range []string{"for_each", "provider"} {
			if a, ok := c.Attributes[name]; ok {
				return diag.At(a.NameRange, "import", "%s of import blocks isn't supported", name)
			}
		}
		to, err := address(c.Attributes["to"], "import")
		if err != nil {
			return err
		}
		m.Imports = append(m.Imports, Import{to, c.Attributes["id"].Expr, b.DefRange})
	}
	return nil
}

func (m *Module) readRemoved(b *hcl.Block) error {
	c, err := content(b, []string{"!from"}, []string{"lifecycle", "provisioner+"})
	if err != nil {
		return err
	}
	removed := Removed{Range: b.DefRange, Destroy: true}
	if removed.From, err = address(c.Attributes["from"], "removed"); err != nil {
		return err
	}
	for _, inner := range c.Blocks {
		if inner.Type != "lifecycle" {
			return unsupported(inner)
		}
		settings, err := content(inner, []string{"destroy"}, nil)
		if err != nil {
			return err
		}
		if err := constant(settings, "destroy", &removed.Destroy, "removed"); err != nil {
			return err
		}
	}
	m.Removed = append(m.Removed, removed)
	return nil
}

func address(a *hcl.Attribute, construct string) (addr.Resource, error) {
	t, problems := hcl.AbsTraversalForExpr(a.Expr)
	if err := diag.OfHCL(problems, construct); err != nil {
		return addr.Resource{}, err
	}
	r, err := addr.OfTraversal(t)
	if err != nil {
		return r, diag.At(a.Expr.Range(), construct, "%v", err)
	}
	return r, nil
}

// check finds what only the whole module shows.
func (m *Module) check() error {
	if m.Parent == nil {
		return nil
	}
	if m.Backend != nil {
		return diag.At(m.Backend.Range, "backend", "only the root module has a backend")
	}
	if len(m.Imports) > 0 {
		return diag.At(m.Imports[0].Range, "import", "import blocks stand in the root module")
	}
	return nil
}

package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/holdfast/holdfast/engine/diag"
)

// fileSchema lists the blocks there are. Those that are refused are here too, so that the error names them.
func fileSchema() *hcl.BodySchema {
	var s hcl.BodySchema
	for _, b := range []struct {
		name   string
		labels []string
	}{{"terraform", nil}, {"variable", []string{"name"}}, {"locals", nil}, {"output", []string{"name"}},
		{"provider", []string{"name"}}, {"module", []string{"name"}}, {"resource", []string{"type", "name"}},
		{"data", []string{"type", "name"}}, {"moved", nil}, {"removed", nil}, {"import", nil},
		{"check", []string{"name"}}, {"ephemeral", []string{"type", "name"}}, {"action", []string{"type", "name"}}} {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: b.name, LabelNames: b.labels})
	}
	return &s
}

// read takes the blocks of one file into the module.
func (m *Module) read(body hcl.Body) error {
	content, problems := body.Content(fileSchema())
	if err := diag.OfHCL(problems, ""); err != nil {
		return err
	}
	for _, b := range content.Blocks {
		var err error
		switch b.Type {
		case "terraform":
			err = m.readSettings(b)
		case "variable":
			err = m.readVariable(b)
		case "locals":
			err = m.readLocals(b)
		case "output":
			err = m.readOutput(b)
		case "provider":
			err = m.readProvider(b)
		case "module":
			err = m.readCall(b)
		case "resource", "data":
			err = m.readResource(b)
		case "moved", "removed", "import":
			err = m.readRefactoring(b)
		default:
			err = unsupported(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func constructOf(b *hcl.Block) string {
	text := b.Type
	for _, label := range b.Labels {
		text += ` "` + label + `"`
	}
	return text
}

// unsupported refuses a block that the engine doesn't know what to do with.
func unsupported(b *hcl.Block) error {
	return diag.At(b.DefRange, constructOf(b), "%s blocks aren't supported", b.Type).
		WithHint("docs/engine.md lists what is")
}

func twice(b *hcl.Block) error {
	return diag.At(b.DefRange, constructOf(b), "there are two blocks %s", constructOf(b))
}

// content reads a block's body: attributes that may stand there, required ones with a "!" in front, and blocks.
func content(b *hcl.Block, attributes, blocks []string) (*hcl.BodyContent, error) {
	c, problems := b.Body.Content(schemaOf(attributes, blocks))
	return c, diag.OfHCL(problems, constructOf(b))
}

func schemaOf(attributes, blocks []string) *hcl.BodySchema {
	var s hcl.BodySchema
	for _, name := range attributes {
		bare, required := strings.CutPrefix(name, "!")
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: bare, Required: required})
	}
	for _, name := range blocks {
		bare, labels := strings.CutSuffix(name, "+")
		header := hcl.BlockHeaderSchema{Type: bare}
		if labels {
			header.LabelNames = []string{"type"}
		}
		s.Blocks = append(s.Blocks, header)
	}
	return &s
}

// constant evaluates an attribute that can't refer to anything into a Go value.
func constant(c *hcl.BodyContent, name string, into any, construct string) error {
	a, ok := c.Attributes[name]
	if !ok {
		return nil
	}
	return diag.OfHCL(gohcl.DecodeExpression(a.Expr, nil, into), construct)
}

func (m *Module) readVariable(b *hcl.Block) error {
	name := b.Labels[0]
	if m.Variables[name] != nil {
		return twice(b)
	}
	c, err := content(b, []string{"type", "default", "description", "sensitive", "nullable", "ephemeral", "deprecated"},
		[]string{"validation"})
	if err != nil {
		return err
	}
	v := &Variable{Name: name, Type: cty.DynamicPseudoType, Nullable: true, Range: b.DefRange}
	for field, into := range map[string]any{"description": &v.Description, "sensitive": &v.Sensitive,
		"nullable": &v.Nullable} {
		if err := constant(c, field, into, constructOf(b)); err != nil {
			return err
		}
	}
	if a, ok := c.Attributes["ephemeral"]; ok {
		return diag.At(a.NameRange, constructOf(b), "ephemeral variables aren't supported")
	}
	if err := v.readType(b, c); err != nil {
		return err
	}
	if a, ok := c.Attributes["default"]; ok {
		value, problems := a.Expr.Value(nil)
		if err := diag.OfHCL(problems, constructOf(b)); err != nil {
			return err
		}
		converted, err := v.Convert(value)
		if err != nil {
			return diag.At(a.Expr.Range(), constructOf(b), "the default doesn't fit the type: %v", err)
		}
		v.Default = &converted
	}
	v.Validations, err = readChecks(c, "validation")
	m.Variables[name] = v
	return err
}

func (v *Variable) readType(b *hcl.Block, c *hcl.BodyContent) error {
	a, ok := c.Attributes["type"]
	if !ok {
		return nil
	}
	t, defaults, problems := typeexpr.TypeConstraintWithDefaults(a.Expr)
	if err := diag.OfHCL(problems, constructOf(b)); err != nil {
		return err
	}
	v.Type = t
	if defaults != nil {
		v.Defaults = defaults
	}
	return nil
}

// Convert brings a value to the variable's type, with the defaults of optional attributes.
func (v *Variable) Convert(value cty.Value) (cty.Value, error) {
	if d, ok := v.Defaults.(*typeexpr.Defaults); ok && !value.IsNull() {
		value = d.Apply(value)
	}
	return convert.Convert(value, v.Type)
}

func readChecks(c *hcl.BodyContent, kind string) ([]Check, error) {
	var all []Check
	for _, b := range c.Blocks {
		if b.Type != kind {
			continue
		}
		inner, err := content(b, []string{"!condition", "!error_message"}, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, Check{inner.Attributes["condition"].Expr, inner.Attributes["error_message"].Expr, b.DefRange})
	}
	return all, nil
}

func (m *Module) readLocals(b *hcl.Block) error {
	attributes, problems := b.Body.JustAttributes()
	if err := diag.OfHCL(problems, "locals"); err != nil {
		return err
	}
	for name, a := range attributes {
		if m.Locals[name] != nil {
			return diag.At(a.NameRange, "locals", "there are two locals %q", name)
		}
		m.Locals[name] = &Local{name, a.Expr, a.NameRange}
	}
	return nil
}

func (m *Module) readOutput(b *hcl.Block) error {
	name := b.Labels[0]
	if m.Outputs[name] != nil {
		return twice(b)
	}
	c, err := content(b, []string{"!value", "description", "sensitive", "depends_on"}, []string{"precondition"})
	if err != nil {
		return err
	}
	o := &Output{Name: name, Expr: c.Attributes["value"].Expr, Range: b.DefRange}
	for field, into := range map[string]any{"description": &o.Description, "sensitive": &o.Sensitive} {
		if err := constant(c, field, into, constructOf(b)); err != nil {
			return err
		}
	}
	if o.DependsOn, err = traversals(c, "depends_on", constructOf(b)); err != nil {
		return err
	}
	o.Checks, err = readChecks(c, "precondition")
	m.Outputs[name] = o
	return err
}

// traversals reads a list of addresses.
func traversals(c *hcl.BodyContent, name, construct string) ([]hcl.Traversal, error) {
	a, ok := c.Attributes[name]
	if !ok {
		return nil, nil
	}
	exprs, problems := hcl.ExprList(a.Expr)
	if err := diag.OfHCL(problems, construct); err != nil {
		return nil, err
	}
	var all []hcl.Traversal
	for _, e := range exprs {
		t, problems := hcl.AbsTraversalForExpr(e)
		if err := diag.OfHCL(problems, construct); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (m *Module) readProvider(b *hcl.Block) error {
	c, rest, problems := b.Body.PartialContent(schemaOf([]string{"alias", "version", "for_each"}, nil))
	if err := diag.OfHCL(problems, constructOf(b)); err != nil {
		return err
	}
	if a, ok := c.Attributes["for_each"]; ok {
		return diag.At(a.NameRange, constructOf(b), "for_each of providers isn't supported")
	}
	p := &Provider{Name: b.Labels[0], Body: rest, Range: b.DefRange}
	if err := constant(c, "alias", &p.Alias, constructOf(b)); err != nil {
		return err
	}
	if m.Providers[p.Key()] != nil {
		return twice(b)
	}
	m.Providers[p.Key()] = p
	return nil
}

// Key is what Module.Providers has the block under.
func (p *Provider) Key() string {
	if p.Alias == "" {
		return p.Name
	}
	return p.Name + "." + p.Alias
}

package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
)

func (m *Module) readResource(b *hcl.Block) error {
	c, rest, problems := b.Body.PartialContent(schemaOf([]string{"count", "for_each", "depends_on", "provider"},
		[]string{"lifecycle", "provisioner+", "connection"}))
	if err := diag.OfHCL(problems, constructOf(b)); err != nil {
		return err
	}
	r := &Resource{Data: b.Type == "data", Type: b.Labels[0], Name: b.Labels[1], Body: rest, Range: b.DefRange}
	if m.Resources[r.Key()] != nil {
		return twice(b)
	}
	var err error
	if r.Count, r.ForEach, err = repetition(c, constructOf(b)); err != nil {
		return err
	}
	if r.DependsOn, err = traversals(c, "depends_on", constructOf(b)); err != nil {
		return err
	}
	r.Provider = addr.ProviderName(r.Type)
	if a, ok := c.Attributes["provider"]; ok {
		if r.Provider, err = providerName(a.Expr, constructOf(b)); err != nil {
			return err
		}
	}
	for _, inner := range c.Blocks {
		if inner.Type != "lifecycle" {
			return unsupported(inner)
		}
		if err := r.Lifecycle.read(inner, constructOf(b)); err != nil {
			return err
		}
	}
	m.Resources[r.Key()] = r
	return nil
}

func repetition(c *hcl.BodyContent, construct string) (count, forEach hcl.Expression, err error) {
	if a, ok := c.Attributes["count"]; ok {
		count = a.Expr
	}
	if a, ok := c.Attributes["for_each"]; ok {
		if count != nil {
			return nil, nil, diag.At(a.NameRange, construct, "count and for_each can't stand together")
		}
		forEach = a.Expr
	}
	return count, forEach, nil
}

// providerName reads aws or aws.alias.
func providerName(e hcl.Expression, construct string) (string, error) {
	t, problems := hcl.AbsTraversalForExpr(e)
	if err := diag.OfHCL(problems, construct); err != nil {
		return "", err
	}
	name := t.RootName()
	if len(t) == 1 {
		return name, nil
	}
	if alias, ok := t[1].(hcl.TraverseAttr); ok && len(t) == 2 {
		return name + "." + alias.Name, nil
	}
	return "", diag.At(e.Range(), construct, "a provider is named NAME or NAME.ALIAS")
}

func (l *Lifecycle) read(b *hcl.Block, construct string) error {
	c, err := content(b, []string{"create_before_destroy", "prevent_destroy", "ignore_changes", "replace_triggered_by"},
		[]string{"precondition", "postcondition"})
	if err != nil {
		return err
	}
	if err := constant(c, "create_before_destroy", &l.CreateBeforeDestroy, construct); err != nil {
		return err
	}
	if err := constant(c, "prevent_destroy", &l.PreventDestroy, construct); err != nil {
		return err
	}
	if a, ok := c.Attributes["ignore_changes"]; ok {
		if hcl.ExprAsKeyword(a.Expr) == "all" {
			l.IgnoreAll = true
		} else if err := l.readIgnored(a, construct); err != nil {
			return err
		}
	}
	if a, ok := c.Attributes["replace_triggered_by"]; ok {
		exprs, problems := hcl.ExprList(a.Expr)
		if err := diag.OfHCL(problems, construct); err != nil {
			return err
		}
		l.ReplaceTriggeredBy = exprs
	}
	if l.Preconditions, err = readChecks(c, "precondition"); err != nil {
		return err
	}
	l.Postconditions, err = readChecks(c, "postcondition")
	return err
}

func (l *Lifecycle) readIgnored(a *hcl.Attribute, construct string) error {
	exprs, problems := hcl.ExprList(a.Expr)
	if err := diag.OfHCL(problems, construct); err != nil {
		return err
	}
	for _, e := range exprs {
		t, problems := hcl.RelTraversalForExpr(e)
		if err := diag.OfHCL(problems, construct); err != nil {
			return err
		}
		l.Ignore = append(l.Ignore, t)
	}
	return nil
}

func (m *Module) readCall(b *hcl.Block) error {
	c, rest, problems := b.Body.PartialContent(schemaOf([]string{"!source", "version", "count", "for_each", "depends_on",
		"providers"}, nil))
	if err := diag.OfHCL(problems, constructOf(b)); err != nil {
		return err
	}
	call := &Call{Name: b.Labels[0], Body: rest, Range: b.DefRange, Providers: map[string]string{}}
	if m.Calls[call.Name] != nil {
		return twice(b)
	}
	if a, ok := c.Attributes["version"]; ok {
		return diag.At(a.NameRange, constructOf(b), "modules of registries aren't supported")
	}
	err := constant(c, "source", &call.Source, constructOf(b))
	if err != nil {
		return err
	}
	if call.Count, call.ForEach, err = repetition(c, constructOf(b)); err != nil {
		return err
	}
	if call.DependsOn, err = traversals(c, "depends_on", constructOf(b)); err != nil {
		return err
	}
	if a, ok := c.Attributes["providers"]; ok {
		pairs, problems := hcl.ExprMap(a.Expr)
		if err := diag.OfHCL(problems, constructOf(b)); err != nil {
			return err
		}
		for _, p := range pairs {
			to, err := providerName(p.Key, constructOf(b))
			if err != nil {
				return err
			}
			if call.Providers[to], err = providerName(p.Value, constructOf(b)); err != nil {
				return err
			}
		}
	}
	m.Calls[call.Name] = call
	return nil
}

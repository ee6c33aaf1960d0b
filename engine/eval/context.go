package eval

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
)

// names is what expressions see under one root name, such as var.
type names map[string]cty.Value

// Context makes what expressions with these references are evaluated in. Only what they refer to is in it.
func (s *Scope) Context(refs []hcl.Traversal, repeat Repeat, construct string) (*hcl.EvalContext, error) {
	groups := map[string]names{}
	put := func(group, name string, v cty.Value) {
		if groups[group] == nil {
			groups[group] = names{}
		}
		groups[group][name] = v
	}
	variables := map[string]cty.Value{}
	data := map[string]names{}
	modules := map[string]moduleUse{}
	for _, t := range refs {
		root, name := t.RootName(), second(t)
		var v cty.Value
		var err error
		switch root {
		case "var":
			v, err = s.refVariable(t, name, construct)
		case "local":
			if err = Undefined(s.Module, t, construct); err == nil {
				v, err = s.local(name)
			}
		case "path":
			v, err = s.path(t, name, construct)
		case "terraform", "tofu":
			if name != "workspace" {
				err = missing(t, construct, "there is only terraform.workspace")
			}
			v = cty.StringVal(s.e.Workspace)
		case "count", "each":
			if v, err = repeat.ref(t, root, name, construct); err == nil {
				put(root, name, v)
			}
		case "self":
			if repeat.Self == cty.NilVal {
				err = missing(t, construct, "self has no meaning here")
			}
			variables["self"] = repeat.Self
			name = ""
		case "module":
			err = useModule(modules, s, t, name, construct)
			name = ""
		case "data":
			third := attrAt(t, 2)
			if v, err = s.refResource(t, addr.Resource{Data: true, Type: name, Name: third}, construct); err == nil {
				if data[name] == nil {
					data[name] = names{}
				}
				data[name][third] = v
			}
			name = ""
		default:
			v, err = s.refResource(t, addr.Resource{Type: root, Name: name}, construct)
		}
		if err != nil {
			return nil, err
		}
		if name != "" {
			put(root, name, v)
		}
	}
	for name, use := range modules {
		v, err := s.moduleValue(name, use)
		if err != nil {
			return nil, err
		}
		put("module", name, v)
	}
	for typeName, all := range data {
		put("data", typeName, cty.ObjectVal(all))
	}
	for group, all := range groups {
		variables[group] = cty.ObjectVal(all)
	}
	return &hcl.EvalContext{Variables: variables, Functions: s.e.functions}, nil
}

func missing(t hcl.Traversal, construct, format string, args ...any) *diag.Error {
	return diag.At(t.SourceRange(), construct, format, args...)
}

func second(t hcl.Traversal) string { return attrAt(t, 1) }

func attrAt(t hcl.Traversal, i int) string {
	if i >= len(t) {
		return ""
	}
	switch step := t[i].(type) {
	case hcl.TraverseAttr:
		return step.Name
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString()
		}
	}
	return ""
}

func (s *Scope) refVariable(t hcl.Traversal, name, construct string) (cty.Value, error) {
	if err := Undefined(s.Module, t, construct); err != nil {
		return cty.NilVal, err
	}
	return s.Variable(name)
}

// Undefined fails for a reference to a variable or a local value that a module doesn't have.
func Undefined(m *config.Module, t hcl.Traversal, construct string) error {
	switch name := second(t); {
	case t.RootName() == "var" && m.Variables[name] == nil:
		return missing(t, construct, "Undefined variable %q referenced in %s", name, construct).
			WithHint("Define variable in variables.tf or pass with -var flag")
	case t.RootName() == "local" && m.Locals[name] == nil:
		return missing(t, construct, "Undefined local value %q referenced in %s", name, construct)
	}
	return nil
}

func (s *Scope) refResource(t hcl.Traversal, r addr.Resource, construct string) (cty.Value, error) {
	block := s.Module.Resources[r.String()]
	if block == nil {
		return cty.NilVal, missing(t, construct, "%s refers to %s, which isn't there", construct, r).
			WithHint("a resource is named TYPE.NAME, a variable var.NAME, a local value local.NAME")
	}
	return s.e.Objects.Object(s, block)
}

func (s *Scope) path(t hcl.Traversal, name, construct string) (cty.Value, error) {
	switch name {
	case "module":
		return cty.StringVal(filepath.ToSlash(s.Module.Path)), nil
	case "root":
		return cty.StringVal("."), nil
	case "cwd":
		dir, err := filepath.Abs(s.e.Root.Dir)
		return cty.StringVal(dir), err
	}
	return cty.NilVal, missing(t, construct, "there are path.module, path.root and path.cwd")
}

func (r Repeat) ref(t hcl.Traversal, root, name, construct string) (cty.Value, error) {
	number, counted := r.Key.(int)
	text, each := r.Key.(string)
	switch {
	case root == "count" && name == "index" && counted:
		return cty.NumberIntVal(int64(number)), nil
	case root == "each" && name == "key" && each:
		return cty.StringVal(text), nil
	case root == "each" && name == "value" && each:
		return r.Value, nil
	}
	return cty.NilVal, missing(t, construct, "%s.%s has no meaning in %s", root, name, construct)
}

// moduleUse is which outputs of a module are used; all of them, if that can't be told.
type moduleUse struct {
	outputs map[string]hcl.Traversal
	all     bool
}

func useModule(uses map[string]moduleUse, s *Scope, t hcl.Traversal, name, construct string) error {
	if s.Module.Calls[name] == nil {
		return missing(t, construct, "%s refers to module.%s, which isn't there", construct, name)
	}
	use := uses[name]
	if use.outputs == nil {
		use.outputs = map[string]hcl.Traversal{}
	}
	rest := t[min(2, len(t)):]
	call := s.Module.Calls[name]
	if (call.Count != nil || call.ForEach != nil) && len(rest) > 0 {
		rest = rest[1:]
	}
	output := attrAt(rest, 0)
	if output == "" {
		use.all = true
	} else if call.Module.Outputs[output] == nil {
		return missing(t, construct, "the module %q has no output %q", name, output)
	} else {
		use.outputs[output] = t
	}
	uses[name] = use
	return nil
}

// moduleValue is the value of module.NAME, with the outputs that are used.
func (s *Scope) moduleValue(name string, use moduleUse) (cty.Value, error) {
	call := s.Module.Calls[name]
	children, err := s.Children(call)
	if err != nil {
		return cty.NilVal, err
	}
	var keys []addr.Key
	var values []cty.Value
	for _, child := range children {
		outputs := names{}
		for output := range call.Module.Outputs {
			if _, used := use.outputs[output]; !used && !use.all {
				continue
			}
			if outputs[output], err = child.Output(output); err != nil {
				return cty.NilVal, err
			}
		}
		keys, values = append(keys, child.repeat.Key), append(values, cty.ObjectVal(outputs))
	}
	return Combine(keys, values, call.Count != nil, call.ForEach != nil), nil
}

// Combine makes the value of a block of its instances' values.
func Combine(keys []addr.Key, values []cty.Value, counted, each bool) cty.Value {
	switch {
	case counted && len(values) == 0:
		return cty.EmptyTupleVal
	case counted:
		return cty.TupleVal(values)
	case each:
		all := map[string]cty.Value{}
		for i, k := range keys {
			all[k.(string)] = values[i]
		}
		return cty.ObjectVal(all)
	}
	return values[0]
}

package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/mark"
)

// Scope is one instance of a module.
type Scope struct {
	Module *config.Module
	Path   addr.Module
	Parent *Scope
	Call   *config.Call

	e        *Evaluator
	repeat   Repeat // of the module's instance
	values   map[string]remembered
	children map[string]*Scope
}

// Repeat is which instance of a block is evaluated: its key, and the value that each.value has.
type Repeat struct {
	Key   addr.Key
	Value cty.Value
	Self  cty.Value // of postconditions
}

func (s *Scope) name(local string) string {
	if len(s.Path) == 0 {
		return local
	}
	return s.Path.String() + "." + local
}

// Eval evaluates one expression of the scope.
func (s *Scope) Eval(expr hcl.Expression, repeat Repeat, construct string) (cty.Value, error) {
	ctx, err := s.Context(expr.Variables(), repeat, construct)
	if err != nil {
		return cty.NilVal, err
	}
	value, problems := expr.Value(ctx)
	return value, diag.OfHCL(problems, construct)
}

// Variable is the value of an input of the module.
func (s *Scope) Variable(name string) (cty.Value, error) {
	return s.e.once(s.values, "var."+name, s.name("var."+name), func() (cty.Value, error) { return s.variable(name) })
}

func (s *Scope) variable(name string) (cty.Value, error) {
	v := s.Module.Variables[name]
	construct := `variable "` + name + `"`
	value, given, err := s.given(v)
	if err != nil {
		return cty.NilVal, err
	}
	if given && value.IsNull() && !v.Nullable {
		given = false
	}
	if !given {
		if v.Default == nil {
			return cty.NilVal, diag.At(v.Range, construct, "the variable %q has no value", name).
				WithHint("Define variable in variables.tf or pass with -var flag")
		}
		value = *v.Default
	}
	if value, err = v.Convert(value); err != nil {
		return cty.NilVal, diag.At(v.Range, construct, "the value of the variable %q doesn't fit its type: %v", name, err)
	}
	if err := s.checkVariable(v, value, construct); err != nil {
		return cty.NilVal, err
	}
	if v.Sensitive {
		value = value.Mark(mark.Sensitive)
	}
	return value, nil
}

// given is what the caller, or the command line, hands over.
func (s *Scope) given(v *config.Variable) (cty.Value, bool, error) {
	if s.Parent == nil {
		value, ok := s.e.Inputs[v.Name]
		return value, ok, nil
	}
	attributes, problems := s.Call.Body.JustAttributes()
	construct := `module "` + s.Call.Name + `"`
	if err := diag.OfHCL(problems, construct); err != nil {
		return cty.NilVal, false, err
	}
	a, ok := attributes[v.Name]
	if !ok {
		return cty.NilVal, false, nil
	}
	value, err := s.Parent.Eval(a.Expr, s.repeat, construct)
	return value, true, err
}

func (s *Scope) checkVariable(v *config.Variable, value cty.Value, construct string) error {
	if len(v.Validations) == 0 {
		return nil
	}
	// A condition refers to the variable itself, which is being evaluated, so it gets the value beside.
	s.values["var."+v.Name] = remembered{value: value}
	defer delete(s.values, "var."+v.Name)
	return s.Check(v.Validations, Repeat{}, construct)
}

// Check fails with the message of the first condition that doesn't hold. Unknown ones pass: they are looked
// at again when they are known.
func (s *Scope) Check(checks []config.Check, repeat Repeat, construct string) error {
	for _, c := range checks {
		holds, err := s.Eval(c.Condition, repeat, construct)
		if err != nil {
			return err
		}
		holds, _ = holds.Unmark()
		if !holds.IsKnown() {
			continue
		}
		if holds.Type() != cty.Bool || holds.IsNull() {
			return diag.At(c.Condition.Range(), construct, "a condition is true or false")
		}
		if holds.True() {
			continue
		}
		message, err := s.Eval(c.Message, repeat, construct)
		if err != nil {
			return err
		}
		text := "a condition doesn't hold"
		if bare, marks := message.Unmark(); len(marks) == 0 && bare.IsKnown() && !bare.IsNull() && bare.Type() == cty.String {
			text = bare.AsString()
		}
		return diag.At(c.Condition.Range(), construct, "%s", text)
	}
	return nil
}

func (s *Scope) local(name string) (cty.Value, error) {
	return s.e.once(s.values, "local."+name, s.name("local."+name), func() (cty.Value, error) {
		return s.Eval(s.Module.Locals[name].Expr, Repeat{}, `local "`+name+`"`)
	})
}

// Output is the value of one of the module's outputs.
func (s *Scope) Output(name string) (cty.Value, error) {
	return s.e.once(s.values, "output."+name, s.name("output."+name), func() (cty.Value, error) {
		o := s.Module.Outputs[name]
		construct := `output "` + name + `"`
		if err := s.DependOn(o.DependsOn, construct); err != nil {
			return cty.NilVal, err
		}
		if err := s.Check(o.Checks, Repeat{}, construct); err != nil {
			return cty.NilVal, err
		}
		value, err := s.Eval(o.Expr, Repeat{}, construct)
		if err == nil && o.Sensitive {
			value = value.Mark(mark.Sensitive)
		}
		if err == nil && !o.Sensitive && s.Parent == nil && value.ContainsMarked() {
			return cty.NilVal, diag.At(o.Expr.Range(), construct, "the output %q shows a sensitive value", name).
				WithHint("write sensitive = true into it if that is meant")
		}
		return value, err
	})
}

// DependOn evaluates what depends_on lists, so that it comes first.
func (s *Scope) DependOn(all []hcl.Traversal, construct string) error {
	for _, t := range all {
		r, err := addr.OfTraversal(t)
		if err != nil {
			return diag.At(t.SourceRange(), construct, "depends_on: %v", err)
		}
		if len(r.Module) > 0 {
			if err := s.dependOnModule(r.Module[0].Name, t, construct); err != nil {
				return err
			}
			continue
		}
		block := s.Module.Resources[r.WithKey(nil).String()]
		if block == nil {
			return diag.At(t.SourceRange(), construct, "depends_on names %s, which isn't there", r)
		}
		if _, err := s.e.Objects.Object(s, block); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scope) dependOnModule(name string, t hcl.Traversal, construct string) error {
	call := s.Module.Calls[name]
	if call == nil {
		return diag.At(t.SourceRange(), construct, "depends_on names module.%s, which isn't there", name)
	}
	children, err := s.Children(call)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := child.everything(); err != nil {
			return err
		}
	}
	return nil
}

// everything evaluates all resources in the module and in those that it calls.
func (s *Scope) everything() error {
	for _, r := range s.Module.SortedResources() {
		if _, err := s.e.Objects.Object(s, r); err != nil {
			return err
		}
	}
	for _, call := range s.Module.SortedCalls() {
		if err := s.dependOnModule(call.Name, nil, ""); err != nil {
			return err
		}
	}
	return nil
}

// Children are the instances of a module that this one calls.
func (s *Scope) Children(call *config.Call) ([]*Scope, error) {
	construct := `module "` + call.Name + `"`
	end, err := s.e.Begin(s.name("module." + call.Name + " (count)"))
	if err != nil {
		return nil, err
	}
	repeats, _, err := s.Repeats(call.Count, call.ForEach, construct)
	if err == nil {
		err = s.checkInputs(call, construct)
	}
	end()
	if err != nil {
		return nil, err
	}
	children := make([]*Scope, 0, len(repeats))
	for _, repeat := range repeats {
		path := s.Path.Child(call.Name, repeat.Key)
		key := path.String()
		if s.children[key] == nil {
			s.children[key] = s.e.newScope(call.Module, s, call, path)
			s.children[key].repeat = repeat
		}
		children = append(children, s.children[key])
	}
	return children, nil
}

// checkInputs finds arguments of a call that the module has no variable for.
func (s *Scope) checkInputs(call *config.Call, construct string) error {
	attributes, problems := call.Body.JustAttributes()
	if err := diag.OfHCL(problems, construct); err != nil {
		return err
	}
	for name, a := range attributes {
		if call.Module.Variables[name] == nil {
			return diag.At(a.NameRange, construct, "the module %s has no variable %q", call.Source, name)
		}
	}
	return nil
}

// CallDependencies evaluates what the calls that lead to this module depend on.
func (s *Scope) CallDependencies() error {
	for at := s; at.Parent != nil; at = at.Parent {
		if err := at.Parent.DependOn(at.Call.DependsOn, `module "`+at.Call.Name+`"`); err != nil {
			return err
		}
	}
	return nil
}

// Find is the scope of a module's instance, nil if the configuration doesn't make it.
func (e *Evaluator) Find(path addr.Module) (*Scope, error) {
	s := e.RootScope()
	for _, step := range path {
		call := s.Module.Calls[step.Name]
		if call == nil {
			return nil, nil
		}
		children, err := s.Children(call)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(children, func(c *Scope) bool { return c.repeat.Key == step.Key })
		if at < 0 {
			return nil, nil
		}
		s = children[at]
	}
	return s, nil
}

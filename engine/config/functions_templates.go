package config

import (
	"maps"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// templateFunctions render templates. A template can call all other functions and none of these, so that none calls
// itself.
func templateFunctions(base string, others map[string]function.Function) map[string]function.Function {
	others = maps.Clone(others)
	return map[string]function.Function{
		"templatefile": template("path", others, func(path string) (text []byte, name string, err error) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(base, path)
			}
			text, err = readFile(path)
			return text, path, err
		}),
		"templatestring": template("template", others, func(text string) ([]byte, string, error) {
			return []byte(text), "the template", nil
		}),
	}
}

// template makes a function that renders what read finds by the first argument.
func template(parameter string, others map[string]function.Function,
	read func(string) (text []byte, name string, err error)) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		text, name, err := read(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		expr, problems := hclsyntax.ParseTemplate(text, name, hcl.InitialPos)
		if problems.HasErrors() {
			return cty.NilVal, function.NewArgError(0, problems)
		}
		if !args[1].CanIterateElements() {
			return cty.NilVal, function.NewArgErrorf(1, "the variables are a map")
		}
		value, problems := expr.Value(&hcl.EvalContext{Variables: args[1].AsValueMap(), Functions: others})
		if problems.HasErrors() {
			return cty.NilVal, function.NewArgError(0, problems)
		}
		return value, nil
	}
	return function.New(&function.Spec{Params: []function.Parameter{{Name: parameter, Type: cty.String},
		{Name: "vars", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || !args[1].IsWhollyKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := render(args)
			return v.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return render(args) }})
}

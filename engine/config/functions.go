package config

import (
	"errors"
	"maps"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Functions are those a configuration can call: OpenTofu's that are pure, and those that read files, from
// the folder base. What tells the time or makes random values isn't among them: a plan is repeatable. Each is there
// under its name alone and in the namespace core.
func Functions(base string) map[string]function.Function {
	all := map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc, "chunklist": stdlib.ChunklistFunc,
		"coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "csvdecode": stdlib.CSVDecodeFunc,
		"distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc,
		"floor": stdlib.FloorFunc, "format": stdlib.FormatFunc, "formatdate": stdlib.FormatDateFunc,
		"formatlist": stdlib.FormatListFunc, "indent": stdlib.IndentFunc, "join": stdlib.JoinFunc,
		"jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc, "keys": stdlib.KeysFunc,
		"log": stdlib.LogFunc, "lookup": stdlib.LookupFunc, "lower": stdlib.LowerFunc, "max": stdlib.MaxFunc,
		"merge": stdlib.MergeFunc, "min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc,
		"range": stdlib.RangeFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"reverse": stdlib.ReverseListFunc, "setintersection": stdlib.SetIntersectionFunc,
		"setproduct": stdlib.SetProductFunc, "setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc,
		"signum": stdlib.SignumFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc,
		"strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc, "timeadd": stdlib.TimeAddFunc,
		"title": stdlib.TitleFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc,
		"trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc,
		"values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
		"try": tryfunc.TryFunc, "can": tryfunc.CanFunc,
		"yamlencode": ctyyaml.YAMLEncodeFunc, "yamldecode": ctyyaml.YAMLDecodeFunc,
		"tostring": stdlib.MakeToFunc(cty.String), "tonumber": stdlib.MakeToFunc(cty.Number),
		"tobool": stdlib.MakeToFunc(cty.Bool), "tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tomap": stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
	}
	for _, more := range []map[string]function.Function{textFunctions(), hashFunctions(), encodingFunctions(),
		listFunctions(), markFunctions(), networkFunctions(), fileFunctions(base)} {
		for name, f := range more {
			all[name] = f
		}
	}
	maps.Copy(all, inCore(all))
	templates := templateFunctions(base, all)
	maps.Copy(all, templates)
	maps.Copy(all, inCore(templates))
	return all
}

// inCore has functions under their names in the namespace core.
func inCore(functions map[string]function.Function) map[string]function.Function {
	named := map[string]function.Function{}
	for name, f := range functions {
		named["core::"+name] = f
	}
	return named
}

// textual makes a function from strings to a string. An error is one of the first argument unless f says otherwise.
func textual(names []string, f func(args []string) (string, error)) function.Function {
	var params []function.Parameter
	for _, name := range names {
		params = append(params, function.Parameter{Name: name, Type: cty.String})
	}
	return function.New(&function.Spec{Params: params, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			texts := make([]string, len(args))
			for i, a := range args {
				texts[i] = a.AsString()
			}
			text, err := f(texts)
			if _, placed := errors.AsType[function.ArgError](err); err != nil && !placed {
				err = function.NewArgError(0, err)
			}
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(text), nil
		}})
}

// tested makes a function from strings to a truth.
func tested(names []string, f func(args []string) bool) function.Function {
	var params []function.Parameter
	for _, name := range names {
		params = append(params, function.Parameter{Name: name, Type: cty.String})
	}
	return function.New(&function.Spec{Params: params, Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			texts := make([]string, len(args))
			for i, a := range args {
				texts[i] = a.AsString()
			}
			return cty.BoolVal(f(texts)), nil
		}})
}

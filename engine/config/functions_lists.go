package config

import (
	"fmt"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/holdfast/holdfast/engine/mark"
)

func listFunctions() map[string]function.Function {
	return map[string]function.Function{"length": lengthFunc(), "one": oneFunc(), "sum": sumFunc(),
		"alltrue": truthFunc(true), "anytrue": truthFunc(false), "index": indexFunc(), "transpose": transposeFunc(),
		"matchkeys": matchKeysFunc(), "coalesce": coalesceFunc()}
}

// coalesceFunc is the first of its arguments that is neither null nor an empty string.
func coalesceFunc() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "vals", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true,
			AllowDynamicType: true, AllowMarked: true},
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, a := range args {
				types[i] = a.Type()
			}
			t, _ := convert.UnifyUnsafe(types)
			if t == cty.NilType {
				return t, function.NewArgErrorf(0, "all arguments have to be of one type")
			}
			return t, nil
		},
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			for i, a := range args {
				a, err := convert.Convert(a, t)
				if err != nil {
					return cty.NilVal, function.NewArgError(i, err)
				}
				bare, marks := a.Unmark()
				if !bare.IsKnown() {
					return cty.UnknownVal(t).WithMarks(marks), nil
				}
				if !bare.IsNull() && !bare.RawEquals(cty.StringVal("")) {
					return a, nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(0, "all are null or empty")
		}})
}

func lengthFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true,
			AllowUnknown: true, AllowMarked: true}},
		Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value, marks := args[0].Unmark()
			t := value.Type()
			switch {
			case t.IsTupleType():
				return cty.NumberIntVal(int64(t.Length())).WithMarks(marks), nil
			case t.IsObjectType():
				return cty.NumberIntVal(int64(len(t.AttributeTypes()))).WithMarks(marks), nil
			case !value.IsKnown():
				return cty.UnknownVal(cty.Number).WithMarks(marks), nil
			case t == cty.String:
				return cty.NumberIntVal(int64(utf8.RuneCountInString(value.AsString()))).WithMarks(marks), nil
			case t.IsCollectionType():
				return value.Length().WithMarks(marks), nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "it is a string, a list, a map or a set that has a length")
		}})
}

func oneFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			t := args[0].Type()
			switch {
			case t.IsListType() || t.IsSetType():
				return t.ElementType(), nil
			case t.IsTupleType() && t.Length() == 0:
				return cty.DynamicPseudoType, nil
			case t.IsTupleType() && t.Length() == 1:
				return t.TupleElementType(0), nil
			}
			return cty.NilType, function.NewArgErrorf(0, "it is a list with one element or none that is wanted")
		},
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			switch n := args[0].LengthInt(); n {
			case 0:
				return cty.NullVal(t), nil
			case 1:
				it := args[0].ElementIterator()
				it.Next()
				_, v := it.Element()
				return v, nil
			default:
				return cty.NilVal, function.NewArgErrorf(0, "there are %d elements", n)
			}
		}})
}

func sumFunc() function.Function {
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].CanIterateElements() || args[0].LengthInt() == 0 {
				return cty.NilVal, function.NewArgErrorf(0, "it is a list of at least one number that is wanted")
			}
			total := cty.Zero
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				n, err := convert.Convert(v, cty.Number)
				if err != nil || n.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "an element is no number")
				}
				total = total.Add(n)
			}
			return total, nil
		}})
}

// truthFunc is alltrue, or anytrue: whether all, or any, of a list is true.
func truthFunc(all bool) function.Function {
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result := cty.BoolVal(all)
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				if v.IsNull() {
					v = cty.False
				}
				if all {
					result = result.And(v)
				} else {
					result = result.Or(v)
				}
			}
			return result, nil
		}})
}

func indexFunc() function.Function {
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType},
		{Name: "value", Type: cty.DynamicPseudoType}}, Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].Type().IsListType() && !args[0].Type().IsTupleType() {
				return cty.NilVal, function.NewArgErrorf(0, "it is a list that is wanted")
			}
			for it := args[0].ElementIterator(); it.Next(); {
				key, v := it.Element()
				same, err := convert.Convert(v, args[1].Type())
				if err == nil && same.RawEquals(args[1]) {
					return key, nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(1, "the list doesn't have it")
		}})
}

func transposeFunc() function.Function {
	t := cty.Map(cty.List(cty.String))
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "values", Type: t}},
		Type: function.StaticReturnType(t),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			turned := map[string][]cty.Value{}
			for it := args[0].ElementIterator(); it.Next(); {
				key, list := it.Element()
				for inner := list.ElementIterator(); inner.Next(); {
					_, v := inner.Element()
					turned[v.AsString()] = append(turned[v.AsString()], key)
				}
			}
			if len(turned) == 0 {
				return cty.MapValEmpty(cty.List(cty.String)), nil
			}
			result := map[string]cty.Value{}
			for k, list := range turned {
				result[k] = cty.ListVal(list)
			}
			return cty.MapVal(result), nil
		}})
}

func matchKeysFunc() function.Function {
	any := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "values", Type: any}, {Name: "keys", Type: any},
		{Name: "searchset", Type: any}},
		Type: func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			if args[0].LengthInt() != args[1].LengthInt() {
				return cty.NilVal, fmt.Errorf("values and keys have to be of the same length")
			}
			var found []cty.Value
			for it := args[1].ElementIterator(); it.Next(); {
				i, key := it.Element()
				for wanted := args[2].ElementIterator(); wanted.Next(); {
					if _, w := wanted.Element(); w.RawEquals(key) {
						found = append(found, args[0].Index(i))
						break
					}
				}
			}
			if len(found) == 0 {
				return cty.ListValEmpty(t.ElementType()), nil
			}
			return cty.ListVal(found), nil
		}})
}

func markFunctions() map[string]function.Function {
	one := []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true,
		AllowMarked: true, AllowDynamicType: true}}
	same := func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }
	return map[string]function.Function{
		"sensitive": function.New(&function.Spec{Params: one, Type: same,
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(mark.Sensitive), nil }}),
		"nonsensitive": function.New(&function.Spec{Params: one, Type: same,
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				v, _ := args[0].Unmark()
				return v, nil
			}}),
		"issensitive": function.New(&function.Spec{Params: one, Type: function.StaticReturnType(cty.Bool),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.BoolVal(args[0].HasMark(mark.Sensitive)), nil
			}}),
	}
}

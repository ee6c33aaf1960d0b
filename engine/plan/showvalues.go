package plan

import (
	"encoding/json"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// wholly reports whether all of a value is known.
func wholly(v cty.Value) bool { return v == cty.NilVal || v.IsWhollyKnown() }

// knownJSON is a value without what isn't known: attributes are left out, and elements are null. It is nil if
// nothing is known.
func knownJSON(v cty.Value) (json.RawMessage, error) {
	if v == cty.NilVal {
		return json.RawMessage("null"), nil
	}
	if !v.IsKnown() {
		return nil, nil
	}
	return ctyjson.SimpleJSONValue{Value: known(v)}.MarshalJSON()
}

func known(v cty.Value) cty.Value {
	if v.IsWhollyKnown() || !v.CanIterateElements() {
		return v
	}
	if t := v.Type(); t.IsObjectType() || t.IsMapType() {
		all := map[string]cty.Value{}
		for name, inner := range v.AsValueMap() {
			if inner.IsKnown() {
				all[name] = known(inner)
			}
		}
		return cty.ObjectVal(all)
	}
	var all []cty.Value
	for _, inner := range v.AsValueSlice() {
		if !inner.IsKnown() {
			inner = cty.NullVal(inner.Type())
		}
		all = append(all, known(inner))
	}
	return cty.TupleVal(all)
}

// unknowns is true for what isn't known, and an object or array of it for what has such parts.
func unknowns(v cty.Value) any {
	return marked(v, func(v cty.Value, _ cty.Path) bool { return !v.IsKnown() }, nil)
}

func sensitivity(v cty.Value, paths []cty.Path) any {
	return marked(v, func(_ cty.Value, at cty.Path) bool {
		return slices.ContainsFunc(paths, at.Equals)
	}, nil)
}

func marked(v cty.Value, is func(cty.Value, cty.Path) bool, at cty.Path) any {
	switch {
	case v == cty.NilVal:
		return false
	case is(v, at):
		return true
	case v.IsNull():
		return false
	}
	t := v.Type()
	switch {
	case t == cty.DynamicPseudoType || t.IsPrimitiveType() || t.IsCapsuleType():
		return false
	case !v.IsKnown() && (t.IsObjectType() || t.IsMapType()):
		return map[string]any{}
	case !v.IsKnown():
		return []any{}
	}
	if t.IsObjectType() || t.IsMapType() {
		all := map[string]any{}
		for name, inner := range v.AsValueMap() {
			step := cty.PathStep(cty.GetAttrStep{Name: name})
			if t.IsMapType() {
				step = cty.IndexStep{Key: cty.StringVal(name)}
			}
			if m := marked(inner, is, append(at.Copy(), step)); m != false {
				all[name] = m
			}
		}
		return all
	}
	all := []any{}
	for it := v.ElementIterator(); it.Next(); {
		key, inner := it.Element()
		all = append(all, marked(inner, is, append(at.Copy(), cty.IndexStep{Key: key})))
	}
	return all
}

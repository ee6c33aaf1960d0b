package plan

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

func byName(a, b Output) int { return strings.Compare(a.Name, b.Name) }

// ValueOf is a block's value as a state has it. Instances that aren't recorded are unknown.
func ValueOf(ctx context.Context, registry *provider.Registry, f *statefile.File, s *eval.Scope, r *config.Resource) (
	cty.Value, error) {
	resolved, err := Resolve(s, r.Provider)
	if err != nil {
		return cty.NilVal, err
	}
	schemas, err := registry.Schemas(ctx, resolved.Provider)
	if err != nil {
		return cty.NilVal, err
	}
	kind := provider.Managed
	if r.Data {
		kind = provider.Data
	}
	schema := schemas.Of(kind, r.Type)
	repeats, _, err := s.Repeats(r.Count, r.ForEach, r.Construct())
	if err != nil || schema == nil {
		return cty.DynamicVal, err
	}
	var keys []addr.Key
	var values []cty.Value
	for _, repeat := range repeats {
		value := cty.UnknownVal(schema.CtyType())
		if _, in := f.Find(r.Address(s.Path, repeat.Key), ""); in != nil {
			if value, err = ctyjson.Unmarshal(in.Attributes, schema.CtyType()); err != nil {
				return cty.NilVal, err
			}
			value = shown(value, schema, parsePaths(in.SensitiveAttributes))
		}
		keys, values = append(keys, repeat.Key), append(values, value)
	}
	return eval.Combine(keys, values, r.Count != nil, r.ForEach != nil), nil
}

// bodyTraversals lists the references in a body as far as it can be read without its schema.
func bodyTraversals(body hcl.Body) []hcl.Traversal {
	var all []hcl.Traversal
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		attributes, _ := body.JustAttributes()
		for _, a := range attributes {
			all = append(all, a.Expr.Variables()...)
		}
		return all
	}
	for _, a := range native.Attributes {
		all = append(all, a.Expr.Variables()...)
	}
	for _, b := range native.Blocks {
		all = append(all, bodyTraversals(b.Body)...)
	}
	return all
}

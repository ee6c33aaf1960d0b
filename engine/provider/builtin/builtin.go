// Package builtin is the provider of terraform_data, which keeps a value and has no program.
package builtin

import (
	"context"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// New makes the provider. It is a provider.Factory.
func New(context.Context) (provider.Provider, error) { return builtin{}, nil }

type builtin struct{ provider.Basic }

const typeName = "terraform_data"

func (builtin) Schemas(context.Context) (*provider.Schemas, error) {
	any := cty.DynamicPseudoType
	return &provider.Schemas{Provider: &provider.Schema{Block: &provider.Block{}},
		Resources: map[string]*provider.Schema{typeName: {Block: &provider.Block{
			Attributes: map[string]*provider.Attribute{
				"input":            {Type: any, Optional: true},
				"output":           {Type: any, Computed: true},
				"triggers_replace": {Type: any, Optional: true},
				"id":               {Type: cty.String, Computed: true},
			}}}}}, nil
}

func (b builtin) Upgrade(ctx context.Context, name string, _ int64, recorded []byte) (cty.Value, error) {
	return provider.Decode(ctx, b, name, recorded)
}

func (builtin) Plan(_ context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	if r.Proposed.IsNull() {
		return provider.PlanResult{Planned: r.Proposed}, nil
	}
	next := r.Proposed.AsValueMap()
	input := next["input"]
	var result provider.PlanResult
	if r.Prior.IsNull() {
		next["id"] = cty.UnknownVal(cty.String)
		next["output"] = outputOf(input)
	} else {
		prior := r.Prior.AsValueMap()
		if !input.RawEquals(prior["input"]) {
			next["output"] = outputOf(input)
		}
		if !next["triggers_replace"].RawEquals(prior["triggers_replace"]) {
			result.RequiresReplace = []cty.Path{cty.GetAttrPath("triggers_replace")}
		}
	}
	result.Planned = cty.ObjectVal(next)
	return result, nil
}

func outputOf(input cty.Value) cty.Value {
	if input.IsKnown() && input.IsNull() {
		return input
	}
	return cty.UnknownVal(input.Type())
}

func (builtin) Apply(_ context.Context, r provider.ApplyRequest) (provider.Object, error) {
	if r.Planned.IsNull() {
		return provider.Object{Value: r.Planned}, nil
	}
	next := r.Planned.AsValueMap()
	if !next["id"].IsKnown() {
		next["id"] = cty.StringVal(uuid.NewString())
	}
	if !next["output"].IsWhollyKnown() {
		next["output"] = next["input"]
	}
	return provider.Object{Value: cty.ObjectVal(next)}, nil
}

func (builtin) Import(_ context.Context, _, id string) (provider.Object, error) {
	none := cty.NullVal(cty.DynamicPseudoType)
	return provider.Object{Value: cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "input": none,
		"output": none, "triggers_replace": none})}, nil
}

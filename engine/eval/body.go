package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/provider"
)

// Body evaluates a block's body, with its dynamic blocks, into an object of the schema.
func (s *Scope) Body(body hcl.Body, schema *provider.Block, repeat Repeat, construct string) (cty.Value, error) {
	spec := config.Spec(schema)
	refs := append(dynblock.ExpandVariablesHCLDec(body, spec), dynblock.VariablesHCLDec(body, spec)...)
	ctx, err := s.Context(refs, repeat, construct)
	if err != nil {
		return cty.NilVal, err
	}
	value, problems := hcldec.Decode(dynblock.Expand(body, ctx), spec, ctx)
	if err := diag.OfHCL(problems, construct); err != nil {
		return cty.NilVal, err
	}
	bare, marks := value.UnmarkDeepWithPaths()
	bare, err = convert.Convert(bare, schema.CtyType())
	if err != nil {
		return cty.NilVal, &diag.Error{Category: diag.Configuration, Construct: construct,
			Summary: construct + " doesn't fit its schema: " + err.Error(), Err: err}
	}
	return bare.MarkWithPaths(marks), nil
}

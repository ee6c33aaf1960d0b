package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func (*box) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	r.Schema = schema.Schema{Version: 1, Attributes: boxAttributes(), Blocks: map[string]schema.Block{
		"door": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{
			Attributes: map[string]schema.Attribute{
				"side": schema.StringAttribute{Required: true},
				"open": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false)},
			},
			Blocks: map[string]schema.Block{
				"hinge": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{
					Attributes: map[string]schema.Attribute{"at": schema.Int64Attribute{Required: true}}}},
			}}},
		"lock": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{
			Attributes: map[string]schema.Attribute{
				"kind": schema.StringAttribute{Required: true},
				"code": schema.StringAttribute{Optional: true, Sensitive: true},
			}}},
	}}
}

func boxAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"name": schema.StringAttribute{Required: true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"text":        schema.StringAttribute{Optional: true},
		"size":        schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1)},
		"revision":    schema.Int64Attribute{Computed: true},
		"secret":      schema.StringAttribute{Optional: true, Sensitive: true},
		"key":         schema.StringAttribute{Optional: true, Sensitive: true, WriteOnly: true},
		"key_version": schema.Int64Attribute{Optional: true},
		"tags":        schema.SetAttribute{Optional: true, ElementType: types.StringType},
		"labels":      schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"dimensions": schema.SingleNestedAttribute{Optional: true, Attributes: map[string]schema.Attribute{
			"width":  schema.Int64Attribute{Required: true},
			"height": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(10)},
			"code":   schema.StringAttribute{Optional: true, Sensitive: true},
		}},
		"slots": schema.ListNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{
			Attributes: map[string]schema.Attribute{
				"name": schema.StringAttribute{Required: true},
				"note": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("empty")},
			}}},
		"parts": schema.SetNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{
			Attributes: map[string]schema.Attribute{
				"name":  schema.StringAttribute{Required: true},
				"count": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1)},
			}}},
		"fail": schema.StringAttribute{Optional: true},
		"gate": schema.StringAttribute{Optional: true},
	}
}

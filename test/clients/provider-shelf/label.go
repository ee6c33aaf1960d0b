package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// label is a resource whose schema has changed: what was title is text now.
type label struct{ labels }

// oldLabel is the same before that.
type oldLabel struct{ labels }

// labels does for both what there is to do: a label exists in the state alone.
type labels struct{}

func (labels) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = "shelf_label"
}

func (labels) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	r.State.Raw = q.Plan.Raw
	r.Diagnostics.Append(r.State.SetAttribute(ctx, path.Root("id"), "label")...)
}

func (labels) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (labels) Update(_ context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	r.State.Raw = q.Plan.Raw
}

func (labels) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

func labelSchema(version int64, text string) schema.Schema {
	return schema.Schema{Version: version, Attributes: map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		text: schema.StringAttribute{Optional: true},
	}}
}

func (*oldLabel) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	r.Schema = labelSchema(1, "title")
}

func (*label) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	r.Schema = labelSchema(2, "text")
}

// UpgradeState brings labels of version 1 to version 2.
func (*label) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	old := labelSchema(1, "title")
	return map[int64]resource.StateUpgrader{1: {PriorSchema: &old,
		StateUpgrader: func(ctx context.Context, q resource.UpgradeStateRequest, r *resource.UpgradeStateResponse) {
			upgrade(ctx, q.State, r)
		}}}
}

// labelModel is a label as it is now.
type labelModel struct {
	ID   types.String `tfsdk:"id"`
	Text types.String `tfsdk:"text"`
}

func upgrade(ctx context.Context, before *tfsdk.State, r *resource.UpgradeStateResponse) {
	var m labelModel
	r.Diagnostics.Append(before.GetAttribute(ctx, path.Root("id"), &m.ID)...)
	r.Diagnostics.Append(before.GetAttribute(ctx, path.Root("title"), &m.Text)...)
	r.Diagnostics.Append(r.State.Set(ctx, &m)...)
}

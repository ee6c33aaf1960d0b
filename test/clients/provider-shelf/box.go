package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// box is a resource with every kind of attribute.
type box struct{ store }

// boxModel is a box as its schema has it.
type boxModel struct {
	ID         types.String `tfsdk:"id"`
	Name       types.String `tfsdk:"name"`
	Text       types.String `tfsdk:"text"`
	Size       types.Int64  `tfsdk:"size"`
	Revision   types.Int64  `tfsdk:"revision"`
	Secret     types.String `tfsdk:"secret"`
	Key        types.String `tfsdk:"key"`
	KeyVersion types.Int64  `tfsdk:"key_version"`
	Tags       types.Set    `tfsdk:"tags"`
	Labels     types.Map    `tfsdk:"labels"`
	Dimensions types.Object `tfsdk:"dimensions"`
	Slots      types.List   `tfsdk:"slots"`
	Parts      types.Set    `tfsdk:"parts"`
	Fail       types.String `tfsdk:"fail"`
	Gate       types.String `tfsdk:"gate"`
	Doors      types.List   `tfsdk:"door"`
	Locks      types.Set    `tfsdk:"lock"`
}

func (*box) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = "shelf_box"
}

func (b *box) Configure(_ context.Context, q resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	if s, ok := q.ProviderData.(store); ok {
		b.store = s
	}
}

// Create makes the file. "half" makes it and fails afterwards.
func (b *box) Create(ctx context.Context, q resource.CreateRequest, r *resource.CreateResponse) {
	var m, config boxModel
	r.Diagnostics.Append(q.Plan.Get(ctx, &m)...)
	r.Diagnostics.Append(q.Config.Get(ctx, &config)...)
	if r.Diagnostics.HasError() || !b.begin(ctx, &m, "create", &r.Diagnostics) {
		return
	}
	m.ID = types.StringValue("box-" + m.Name.ValueString())
	m.Revision = types.Int64Value(1)
	b.put(&m, &config, &r.Diagnostics)
	if r.Diagnostics.HasError() {
		return
	}
	r.Diagnostics.Append(r.State.Set(ctx, &m)...)
	if m.Fail.ValueString() == "half" {
		r.Diagnostics.AddError("The box is only half done", "half was asked for")
	}
}

// begin waits and fails if the configuration wants that.
func (b *box) begin(ctx context.Context, m *boxModel, operation string, problems *diag.Diagnostics) bool {
	if err := wait(ctx, m.Gate.ValueString()); err != nil {
		problems.AddError("The box wasn't touched", err.Error())
		return false
	}
	if m.Fail.ValueString() == operation {
		problems.AddAttributeError(path.Root("fail"), "The box can't be handled", operation+" was to fail")
		return false
	}
	return true
}

func (b *box) put(m, config *boxModel, problems *diag.Diagnostics) {
	text := m.Text.ValueString()
	if key := config.Key.ValueString(); key != "" {
		text += " locked"
	}
	o := object{m.Name.ValueString(), text, m.Revision.ValueInt64()}
	if err := b.write(m.ID.ValueString(), o); err != nil {
		problems.AddError("The box can't be written", err.Error())
	}
}

func (b *box) Read(ctx context.Context, q resource.ReadRequest, r *resource.ReadResponse) {
	var m boxModel
	r.Diagnostics.Append(q.State.Get(ctx, &m)...)
	if r.Diagnostics.HasError() {
		return
	}
	if m.Fail.ValueString() == "read" {
		r.Diagnostics.AddError("The box can't be read", "read was to fail")
		return
	}
	o, err := b.read(m.ID.ValueString())
	switch {
	case err != nil:
		r.Diagnostics.AddError("The box can't be read", err.Error())
	case o == nil:
		r.State.RemoveResource(ctx)
	default:
		m.Revision = types.Int64Value(o.Revision)
		r.Diagnostics.Append(r.State.Set(ctx, &m)...)
	}
}

func (b *box) Update(ctx context.Context, q resource.UpdateRequest, r *resource.UpdateResponse) {
	var before, m, config boxModel
	r.Diagnostics.Append(q.State.Get(ctx, &before)...)
	r.Diagnostics.Append(q.Plan.Get(ctx, &m)...)
	r.Diagnostics.Append(q.Config.Get(ctx, &config)...)
	if r.Diagnostics.HasError() || !b.begin(ctx, &m, "update", &r.Diagnostics) {
		return
	}
	m.Revision = types.Int64Value(before.Revision.ValueInt64() + 1)
	b.put(&m, &config, &r.Diagnostics)
	if !r.Diagnostics.HasError() {
		r.Diagnostics.Append(r.State.Set(ctx, &m)...)
	}
}

func (b *box) Delete(ctx context.Context, q resource.DeleteRequest, r *resource.DeleteResponse) {
	var m boxModel
	r.Diagnostics.Append(q.State.Get(ctx, &m)...)
	if r.Diagnostics.HasError() || !b.begin(ctx, &m, "delete", &r.Diagnostics) {
		return
	}
	if err := b.remove(m.ID.ValueString()); err != nil {
		r.Diagnostics.AddError("The box can't be removed", err.Error())
	}
}

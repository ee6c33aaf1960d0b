package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// boxData is the data source that reads a box.
type boxData struct{ store }

// boxDataModel is what is read of a box.
type boxDataModel struct {
	Name     types.String `tfsdk:"name"`
	Text     types.String `tfsdk:"text"`
	Revision types.Int64  `tfsdk:"revision"`
}

func (*boxData) Metadata(_ context.Context, _ datasource.MetadataRequest, r *datasource.MetadataResponse) {
	r.TypeName = "shelf_box"
}

func (*boxData) Schema(_ context.Context, _ datasource.SchemaRequest, r *datasource.SchemaResponse) {
	r.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"name":     schema.StringAttribute{Required: true},
		"text":     schema.StringAttribute{Computed: true},
		"revision": schema.Int64Attribute{Computed: true},
	}}
}

func (b *boxData) Configure(_ context.Context, q datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	if s, ok := q.ProviderData.(store); ok {
		b.store = s
	}
}

func (b *boxData) Read(ctx context.Context, q datasource.ReadRequest, r *datasource.ReadResponse) {
	var m boxDataModel
	r.Diagnostics.Append(q.Config.Get(ctx, &m)...)
	if r.Diagnostics.HasError() {
		return
	}
	o, err := b.read("box-" + m.Name.ValueString())
	if err != nil || o == nil {
		r.Diagnostics.AddError("There is no such box", m.Name.ValueString())
		return
	}
	m.Text, m.Revision = types.StringValue(o.Text), types.Int64Value(o.Revision)
	r.Diagnostics.Append(r.State.Set(ctx, &m)...)
}

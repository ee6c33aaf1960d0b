package main

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// oldVariable makes the provider the one it was before its schema changed.
const oldVariable = "SHELF_OLD"

// shelf is the provider.
type shelf struct{}

func newShelf() provider.Provider { return shelf{} }

// settings are the provider's configuration.
type settings struct {
	Folder types.String `tfsdk:"folder"`
}

func (shelf) Metadata(_ context.Context, _ provider.MetadataRequest, r *provider.MetadataResponse) {
	r.TypeName = "shelf"
}

func (shelf) Schema(_ context.Context, _ provider.SchemaRequest, r *provider.SchemaResponse) {
	r.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"folder": schema.StringAttribute{Required: true},
	}}
}

func (shelf) Configure(ctx context.Context, q provider.ConfigureRequest, r *provider.ConfigureResponse) {
	var s settings
	r.Diagnostics.Append(q.Config.Get(ctx, &s)...)
	if r.Diagnostics.HasError() || s.Folder.IsUnknown() {
		return
	}
	if err := os.MkdirAll(s.Folder.ValueString(), 0o700); err != nil {
		r.Diagnostics.AddError("The folder can't be made", err.Error())
		return
	}
	at := store{s.Folder.ValueString()}
	r.ResourceData, r.DataSourceData = at, at
}

func (shelf) Resources(context.Context) []func() resource.Resource {
	if os.Getenv(oldVariable) != "" {
		return []func() resource.Resource{func() resource.Resource { return &oldLabel{} }}
	}
	return []func() resource.Resource{
		func() resource.Resource { return &box{} },
		func() resource.Resource { return &label{} },
	}
}

func (shelf) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return &boxData{} }}
}

// Package file is a provider of files, as small as one can be that is honest: it says beforehand what it will do, reads
// what there is, and does a thing twice without harm. It is an example to begin from.
package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/internal/durable"
)

// Address is what configurations name the provider by: source = "terraform.io/builtin/file".
func Address() addr.Provider {
	return addr.Provider{Host: addr.BuiltIn().Host, Namespace: "builtin", Name: "file"}
}

// New makes the provider. It is a provider.Factory.
func New(context.Context) (provider.Provider, error) { return files{}, nil }

// files has one resource type, file: a path, and the text in it.
type files struct{ provider.Basic }

const typeName = "file"

// Schemas implements provider.Provider.
func (files) Schemas(context.Context) (*provider.Schemas, error) {
	return &provider.Schemas{Provider: &provider.Schema{Block: &provider.Block{}},
		Resources: map[string]*provider.Schema{typeName: {Block: &provider.Block{
			Attributes: map[string]*provider.Attribute{
				"id":      {Type: cty.String, Computed: true},
				"path":    {Type: cty.String, Required: true},
				"content": {Type: cty.String, Optional: true},
				"sha256":  {Type: cty.String, Computed: true},
			}}}}}, nil
}

// ValidateResource implements provider.Provider.
func (files) ValidateResource(_ context.Context, _ provider.Kind, _ string, config cty.Value) error {
	if path := config.GetAttr("path"); path.IsKnown() && path.AsString() == "" {
		return &provider.Fault{Summary: "a file needs a path"}
	}
	return nil
}

// Upgrade implements provider.Provider.
func (f files) Upgrade(ctx context.Context, name string, _ int64, recorded []byte) (cty.Value, error) {
	return provider.Decode(ctx, f, name, recorded)
}

// Read implements provider.Provider. A file that is gone is null, one that was changed has what is in it now.
func (files) Read(_ context.Context, r provider.ReadRequest) (provider.Object, error) {
	text, err := os.ReadFile(r.Value.GetAttr("id").AsString())
	if errors.Is(err, fs.ErrNotExist) {
		return provider.Object{Value: cty.NullVal(r.Value.Type())}, nil
	}
	if err != nil {
		return provider.Object{}, &provider.Fault{Summary: "the file can't be read", Detail: err.Error()}
	}
	now := r.Value.AsValueMap()
	if hash := sum(string(text)); now["sha256"].IsNull() || now["sha256"].AsString() != hash {
		now["content"], now["sha256"] = cty.StringVal(string(text)), cty.StringVal(hash)
	}
	return provider.Object{Value: cty.ObjectVal(now)}, nil
}

// Plan implements provider.Provider. All that will be is known as soon as the configuration is.
func (files) Plan(_ context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	if r.Proposed.IsNull() {
		return provider.PlanResult{Planned: r.Proposed}, nil
	}
	next := r.Proposed.AsValueMap()
	next["id"], next["sha256"] = next["path"], cty.UnknownVal(cty.String)
	if content := next["content"]; content.IsKnown() {
		next["sha256"] = cty.StringVal(sum(textOf(content)))
	}
	result := provider.PlanResult{Planned: cty.ObjectVal(next)}
	if !r.Prior.IsNull() && !r.Prior.GetAttr("path").RawEquals(next["path"]) {
		result.RequiresReplace = []cty.Path{cty.GetAttrPath("path")}
	}
	return result, nil
}

// Apply implements provider.Provider. What is deleted already is no fault.
func (files) Apply(_ context.Context, r provider.ApplyRequest) (provider.Object, error) {
	if r.Planned.IsNull() {
		err := os.Remove(r.Prior.GetAttr("id").AsString())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return provider.Object{}, &provider.Fault{Summary: "the file can't be removed", Detail: err.Error()}
		}
		return provider.Object{Value: r.Planned}, nil
	}
	next := r.Planned.AsValueMap()
	path, text := next["path"].AsString(), textOf(next["content"])
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = durable.Write(path, text)
	}
	if err != nil {
		return provider.Object{}, &provider.Fault{Summary: "the file can't be written", Detail: err.Error()}
	}
	next["id"], next["sha256"] = next["path"], cty.StringVal(sum(text))
	return provider.Object{Value: cty.ObjectVal(next)}, nil
}

// Import implements provider.Provider. The ID of a file is its path.
func (files) Import(_ context.Context, _, id string) (provider.Object, error) {
	none := cty.NullVal(cty.String)
	return provider.Object{Value: cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "path": cty.StringVal(id),
		"content": none, "sha256": none})}, nil
}

func textOf(content cty.Value) string {
	if content.IsNull() {
		return ""
	}
	return content.AsString()
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

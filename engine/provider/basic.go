package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Basic answers what simple providers needn't care about: they embed it.
type Basic struct{}

// Configure implements Provider.
func (Basic) Configure(context.Context, cty.Value) error { return nil }

// ValidateResource implements Provider.
func (Basic) ValidateResource(context.Context, Kind, string, cty.Value) error { return nil }

// Read implements Provider: what is recorded is what there is.
func (Basic) Read(_ context.Context, r ReadRequest) (Object, error) { return r.Object, nil }

// ReadData implements Provider.
func (Basic) ReadData(_ context.Context, name string, _ cty.Value) (cty.Value, error) {
	return cty.NilVal, &Fault{Summary: fmt.Sprintf("there is no data source %q", name)}
}

// Import implements Provider.
func (Basic) Import(_ context.Context, name, _ string) (Object, error) {
	return Object{}, &Fault{Summary: fmt.Sprintf("%s can't be imported", name)}
}

// Stop implements Provider.
func (Basic) Stop(context.Context) error { return nil }

// Close implements Provider.
func (Basic) Close() error { return nil }

// Decode reads a recorded object as the schema of today has it. Attributes that the schema doesn't have any
// more are dropped, those that are new are null.
func Decode(ctx context.Context, p Provider, name string, recorded []byte) (cty.Value, error) {
	schemas, err := p.Schemas(ctx)
	if err != nil {
		return cty.NilVal, err
	}
	schema := schemas.Resources[name]
	if schema == nil {
		return cty.NilVal, &Fault{Summary: fmt.Sprintf("there is no resource type %q", name)}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(recorded, &members); err != nil {
		return cty.NilVal, fmt.Errorf("the record of a %s is no object: %w", name, err)
	}
	values := map[string]cty.Value{}
	for attribute, t := range schema.CtyType().AttributeTypes() {
		text, ok := members[attribute]
		if !ok {
			values[attribute] = cty.NullVal(t)
			continue
		}
		if values[attribute], err = ctyjson.Unmarshal(text, t); err != nil {
			return cty.NilVal, fmt.Errorf("the record of a %s doesn't fit at %s: %w", name, attribute, err)
		}
	}
	return cty.ObjectVal(values), nil
}

// Eventual is for providers whose objects can be read only some time after they were created.
type Eventual interface {
	VisibleWithin(typeName string) time.Duration
}

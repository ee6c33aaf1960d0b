package plugin

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/plugin/wire"
)

func encode(v cty.Value, t cty.Type) (*wire.Value, error) {
	b, err := msgpack.Marshal(v, t)
	if err != nil {
		return nil, fmt.Errorf("a value can't be sent to the provider: %w", err)
	}
	return &wire.Value{Msgpack: b}, nil
}

func decode(v *wire.Value, t cty.Type) (cty.Value, error) {
	var value cty.Value
	var err error
	switch {
	case len(v.GetMsgpack()) > 0:
		value, err = msgpack.Unmarshal(v.GetMsgpack(), t)
	case len(v.GetJson()) > 0:
		value, err = ctyjson.Unmarshal(v.GetJson(), t)
	default:
		return cty.NullVal(t), nil
	}
	if err != nil {
		return cty.NilVal, fmt.Errorf("the provider's answer doesn't fit its schema: %w", err)
	}
	return value, nil
}

func pathOf(p *wire.Path) cty.Path {
	var path cty.Path
	for _, step := range p.GetSteps() {
		switch s := step.GetSelector().(type) {
		case *wire.Path_Step_AttributeName:
			path = path.GetAttr(s.AttributeName)
		case *wire.Path_Step_ElementKeyString:
			path = path.Index(cty.StringVal(s.ElementKeyString))
		case *wire.Path_Step_ElementKeyInt:
			path = path.Index(cty.NumberIntVal(s.ElementKeyInt))
		}
	}
	return path
}

// faultOf returns the first error among diagnostics, with those after it in its detail; nil if there is none.
func faultOf(all []*wire.Diagnostic) error {
	var fault *provider.Fault
	for _, d := range all {
		if d.GetSeverity() != wire.Diagnostic_ERROR {
			continue
		}
		detail := d.GetDetail()
		if at := provider.PathString(pathOf(d.GetAttribute())); at != "" {
			detail = "at " + at + ": " + detail
		}
		if fault == nil {
			fault = &provider.Fault{Summary: d.GetSummary(), Detail: detail}
			continue
		}
		fault.Detail += "\n" + d.GetSummary() + ": " + detail
	}
	if fault == nil {
		return nil
	}
	return fault
}

func schemasOf(s *wire.Schemas) (*provider.Schemas, error) {
	all := &provider.Schemas{Resources: map[string]*provider.Schema{}, Data: map[string]*provider.Schema{},
		PlansDestroy: s.GetCapabilities().GetPlanDestroy()}
	var err error
	if all.Provider, err = schemaOf(s.GetProvider()); err != nil {
		return nil, err
	}
	for name, w := range s.GetResources() {
		if all.Resources[name], err = schemaOf(w); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, w := range s.GetDataSources() {
		if all.Data[name], err = schemaOf(w); err != nil {
			return nil, fmt.Errorf("data.%s: %w", name, err)
		}
	}
	return all, nil
}

func schemaOf(w *wire.Schema) (*provider.Schema, error) {
	b, err := blockOf(w.GetBlock())
	return &provider.Schema{Version: w.GetVersion(), Block: b}, err
}

func blockOf(w *wire.Block) (*provider.Block, error) {
	attributes, err := attributesOf(w.GetAttributes())
	if err != nil {
		return nil, err
	}
	b := &provider.Block{Attributes: attributes, Blocks: map[string]*provider.NestedBlock{}}
	for _, n := range w.GetBlockTypes() {
		inner, err := blockOf(n.GetBlock())
		if err != nil {
			return nil, err
		}
		b.Blocks[n.GetTypeName()] = &provider.NestedBlock{Block: inner, Nesting: provider.Nesting(n.GetNesting()),
			Min: int(n.GetMinItems()), Max: int(n.GetMaxItems())}
	}
	return b, nil
}

func attributesOf(all []*wire.Attribute) (map[string]*provider.Attribute, error) {
	attributes := map[string]*provider.Attribute{}
	for _, w := range all {
		a := &provider.Attribute{Required: w.GetRequired(), Optional: w.GetOptional(), Computed: w.GetComputed(),
			Sensitive: w.GetSensitive(), WriteOnly: w.GetWriteOnly()}
		if n := w.GetNestedType(); n != nil {
			inner, err := attributesOf(n.GetAttributes())
			if err != nil {
				return nil, err
			}
			a.Nested = &provider.NestedType{Attributes: inner, Nesting: provider.Nesting(n.GetNesting())}
		} else {
			t, err := ctyjson.UnmarshalType(w.GetType())
			if err != nil {
				return nil, fmt.Errorf("the attribute %q has a type that can't be read: %w", w.GetName(), err)
			}
			a.Type = t
		}
		attributes[w.GetName()] = a
	}
	return attributes, nil
}

// from5 is what version 5 says in the form of version 6.
func from5(s *wire.SchemasOf5) *wire.Schemas {
	all := &wire.Schemas{Provider: schemaFrom5(s.GetProvider()), Resources: map[string]*wire.Schema{},
		DataSources: map[string]*wire.Schema{}, Diagnostics: s.GetDiagnostics(), Capabilities: s.GetCapabilities()}
	for name, w := range s.GetResources() {
		all.Resources[name] = schemaFrom5(w)
	}
	for name, w := range s.GetDataSources() {
		all.DataSources[name] = schemaFrom5(w)
	}
	return all
}

func schemaFrom5(s *wire.SchemaOf5) *wire.Schema {
	return &wire.Schema{Version: s.GetVersion(), Block: blockFrom5(s.GetBlock())}
}

func blockFrom5(w *wire.BlockOf5) *wire.Block {
	b := &wire.Block{Version: w.GetVersion()}
	for _, a := range w.GetAttributes() {
		b.Attributes = append(b.Attributes, &wire.Attribute{Name: a.GetName(), Type: a.GetType(),
			Required: a.GetRequired(), Optional: a.GetOptional(), Computed: a.GetComputed(),
			Sensitive: a.GetSensitive(), WriteOnly: a.GetWriteOnly()})
	}
	for _, n := range w.GetBlockTypes() {
		b.BlockTypes = append(b.BlockTypes, &wire.NestedBlock{TypeName: n.GetTypeName(), Nesting: n.GetNesting(),
			MinItems: n.GetMinItems(), MaxItems: n.GetMaxItems(), Block: blockFrom5(n.GetBlock())})
	}
	return b
}

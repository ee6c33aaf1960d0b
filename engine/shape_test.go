package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/builtin"
)

// shapes is a provider whose one resource type, shape_all, and data source have every way of nesting. Its objects are
// as planned, with what is unknown made up.
type shapes struct {
	provider.Basic
	mu      sync.Mutex
	objects map[string]cty.Value
	token   string
}

func newShapeSite(t *testing.T, text string) (*site, *shapes) {
	t.Helper()
	world := &shapes{objects: map[string]cty.Value{}}
	s := newSite(t, text)
	s.options = func(o *engine.Options) {
		o.Registry = provider.NewRegistry(nil)
		o.Registry.Add(addr.BuiltIn(), builtin.New)
		o.Registry.Add(addr.Provider{Host: addr.DefaultHost, Namespace: "hashicorp", Name: "shape"},
			func(context.Context) (provider.Provider, error) { return world, nil })
	}
	return s, world
}

func shapeBlock() *provider.Block {
	text := func(a provider.Attribute) *provider.Attribute {
		a.Type = cty.String
		return &a
	}
	inner := func() map[string]*provider.Attribute {
		return map[string]*provider.Attribute{
			"key":    text(provider.Attribute{Optional: true}),
			"note":   text(provider.Attribute{Optional: true, Computed: true}),
			"secret": text(provider.Attribute{Optional: true, Sensitive: true}),
		}
	}
	b := &provider.Block{Blocks: map[string]*provider.NestedBlock{}, Attributes: map[string]*provider.Attribute{
		"id":     text(provider.Attribute{Computed: true}),
		"name":   text(provider.Attribute{Required: true}),
		"text":   text(provider.Attribute{Optional: true}),
		"hidden": text(provider.Attribute{Optional: true, WriteOnly: true}),
		"tags":   {Type: cty.Map(cty.String), Optional: true},
		"list":   {Type: cty.List(cty.String), Optional: true},
		"any":    {Type: cty.DynamicPseudoType, Optional: true},
	}}
	for name, nesting := range map[string]provider.Nesting{"single": provider.Single, "list": provider.List,
		"set": provider.Set, "map": provider.Map} {
		b.Attributes["a_"+name] = &provider.Attribute{Optional: true,
			Nested: &provider.NestedType{Attributes: inner(), Nesting: nesting}}
		b.Blocks["b_"+name] = &provider.NestedBlock{Block: &provider.Block{Attributes: inner()}, Nesting: nesting}
	}
	b.Blocks["b_group"] = &provider.NestedBlock{Block: &provider.Block{Attributes: inner()}, Nesting: provider.Group}
	b.Blocks["b_list"].Max = 3
	return b
}

func (*shapes) Schemas(context.Context) (*provider.Schemas, error) {
	all := map[string]*provider.Schema{"shape_all": {Block: shapeBlock()}}
	return &provider.Schemas{Resources: all, Data: all, PlansDestroy: true,
		Provider: &provider.Schema{Block: &provider.Block{Attributes: map[string]*provider.Attribute{
			"token": {Type: cty.String, Optional: true, Sensitive: true}}}}}, nil
}

func (s *shapes) Configure(_ context.Context, config cty.Value) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token := config.GetAttr("token"); !token.IsNull() && token.IsKnown() {
		s.token = token.AsString()
	}
	return nil
}

func (s *shapes) Upgrade(ctx context.Context, name string, _ int64, recorded []byte) (cty.Value, error) {
	return provider.Decode(ctx, s, name, recorded)
}

func (s *shapes) Read(_ context.Context, r provider.ReadRequest) (provider.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.objects[r.Value.GetAttr("id").AsString()]
	if !ok {
		v = cty.NullVal(r.Value.Type())
	}
	return provider.Object{Value: v, Private: r.Private}, nil
}

// Plan leaves open what the provider decides and nobody has said.
func (*shapes) Plan(_ context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	if r.Proposed.IsNull() {
		return provider.PlanResult{Planned: r.Proposed}, nil
	}
	open, err := cty.Transform(r.Proposed, func(path cty.Path, v cty.Value) (cty.Value, error) {
		last, ok := path[max(0, len(path)-1):], len(path) > 0
		if ok && v.IsNull() && (last.Equals(cty.GetAttrPath("note")) || path.Equals(cty.GetAttrPath("id"))) {
			return cty.UnknownVal(cty.String), nil
		}
		if path.Equals(cty.GetAttrPath("hidden")) {
			return cty.NullVal(cty.String), nil
		}
		return v, nil
	})
	result := provider.PlanResult{Planned: open, Private: []byte("seen")}
	if !r.Prior.IsNull() && !r.Prior.GetAttr("name").RawEquals(open.GetAttr("name")) {
		result.RequiresReplace = []cty.Path{cty.GetAttrPath("name")}
	}
	return result, err
}

func (s *shapes) Apply(_ context.Context, r provider.ApplyRequest) (provider.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Planned.IsNull() {
		delete(s.objects, r.Prior.GetAttr("id").AsString())
		return provider.Object{Value: r.Planned}, nil
	}
	id := fmt.Sprintf("shape-%d", len(s.objects)+1)
	for s.objects[id] != cty.NilVal {
		id += "x"
	}
	made, err := cty.Transform(r.Planned, func(path cty.Path, v cty.Value) (cty.Value, error) {
		switch {
		case v.IsKnown():
			return v, nil
		case path.Equals(cty.GetAttrPath("id")):
			return cty.StringVal(id), nil
		}
		return cty.StringVal("noted"), nil
	})
	if err != nil {
		return provider.Object{}, err
	}
	s.objects[made.GetAttr("id").AsString()] = made
	return provider.Object{Value: made, Private: r.Private}, nil
}

func (*shapes) ReadData(_ context.Context, _ string, config cty.Value) (cty.Value, error) {
	all := config.AsValueMap()
	all["id"] = cty.StringVal("data of " + config.GetAttr("name").AsString())
	return cty.ObjectVal(all), nil
}

func (s *shapes) Import(_ context.Context, name, id string) (provider.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.objects[id]
	if !ok {
		return provider.Object{}, &provider.Fault{Summary: "there is no " + name + " " + id}
	}
	return provider.Object{Value: v}, nil
}

// Package fake is a provider whose objects are in memory, for tests of what drives providers: it can be slow,
// fail, and show what it made only some time later.
package fake

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/provider"
)

// Provider has one resource type, fake_thing: name (required, replaces), size, computed id and links.
// All providers that New makes of one World see the same objects.
type Provider struct {
	provider.Basic
	world *World
}

// World holds the objects, and how they behave.
type World struct {
	Latency time.Duration // of each apply

	// Fail is asked before each apply with what it does ("create", "update" or "delete") and the name; an
	// error ends it.
	Fail func(what, name string) error

	// Called is asked before each call of any kind, with its name; an error ends it. It may be nil.
	Called func(call string) error

	// Hidden is for how many reads a new object isn't visible, and Within how long one waits for it.
	Hidden int
	Within time.Duration

	mu      sync.Mutex
	next    int
	objects map[string]cty.Value
	hidden  map[string]int
	calls   []string
}

// New makes a provider of the world. It is a provider.Factory.
func (w *World) New(context.Context) (provider.Provider, error) {
	p := &Provider{world: w}
	if w.Called == nil {
		return p, nil
	}
	if err := w.Called("start"); err != nil {
		return nil, err
	}
	return &faulty{p, w}, nil
}

// Calls lists what was applied, in order.
func (w *World) Calls() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.calls...)
}

// Len is how many objects there are.
func (w *World) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.objects)
}

// Lose removes an object behind the back of who made it.
func (w *World) Lose(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, id)
}

// Schemas implements provider.Provider.
func (*Provider) Schemas(context.Context) (*provider.Schemas, error) {
	return &provider.Schemas{Provider: &provider.Schema{Block: &provider.Block{}},
		Resources: map[string]*provider.Schema{"fake_thing": {Block: &provider.Block{
			Attributes: map[string]*provider.Attribute{
				"id":    {Type: cty.String, Computed: true},
				"name":  {Type: cty.String, Required: true},
				"size":  {Type: cty.Number, Optional: true},
				"links": {Type: cty.List(cty.String), Optional: true},
			}}}}}, nil
}

// Upgrade implements provider.Provider.
func (p *Provider) Upgrade(ctx context.Context, name string, _ int64, recorded []byte) (cty.Value, error) {
	return provider.Decode(ctx, p, name, recorded)
}

// VisibleWithin implements provider.Eventual.
func (p *Provider) VisibleWithin(string) time.Duration { return p.world.Within }

// Read implements provider.Provider.
func (p *Provider) Read(_ context.Context, r provider.ReadRequest) (provider.Object, error) {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	id := r.Value.GetAttr("id").AsString()
	value, ok := w.objects[id]
	if w.hidden[id] > 0 {
		w.hidden[id]--
		ok = false
	}
	if !ok {
		value = cty.NullVal(r.Value.Type())
	}
	return provider.Object{Value: value}, nil
}

// Plan implements provider.Provider.
func (*Provider) Plan(_ context.Context, r provider.PlanRequest) (provider.PlanResult, error) {
	if r.Proposed.IsNull() {
		return provider.PlanResult{Planned: r.Proposed}, nil
	}
	next := r.Proposed.AsValueMap()
	var result provider.PlanResult
	if r.Prior.IsNull() {
		next["id"] = cty.UnknownVal(cty.String)
	} else if !next["name"].RawEquals(r.Prior.GetAttr("name")) {
		result.RequiresReplace = []cty.Path{cty.GetAttrPath("name")}
	}
	result.Planned = cty.ObjectVal(next)
	return result, nil
}

// Apply implements provider.Provider.
func (p *Provider) Apply(ctx context.Context, r provider.ApplyRequest) (provider.Object, error) {
	w := p.world
	what, named := "update", r.Planned
	switch {
	case r.Planned.IsNull():
		what, named = "delete", r.Prior
	case r.Prior.IsNull():
		what = "create"
	}
	name := named.GetAttr("name").AsString()
	if err := p.slow(ctx, what, name); err != nil {
		return provider.Object{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.objects == nil {
		w.objects, w.hidden = map[string]cty.Value{}, map[string]int{}
	}
	w.calls = append(w.calls, what+" "+name)
	if what == "delete" {
		delete(w.objects, r.Prior.GetAttr("id").AsString())
		return provider.Object{Value: r.Planned}, nil
	}
	next := r.Planned.AsValueMap()
	if what == "create" {
		w.next++
		next["id"] = cty.StringVal(fmt.Sprintf("thing-%d", w.next))
		w.hidden[next["id"].AsString()] = w.Hidden
	} else if _, ok := w.objects[next["id"].AsString()]; !ok {
		return provider.Object{}, &provider.Fault{Summary: "there is no such thing", Code: 404}
	}
	value := cty.ObjectVal(next)
	w.objects[next["id"].AsString()] = value
	return provider.Object{Value: value}, nil
}

// slow waits and fails as the world wants it.
func (p *Provider) slow(ctx context.Context, what, name string) error {
	if p.world.Latency > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(p.world.Latency):
		}
	}
	if p.world.Fail != nil {
		return p.world.Fail(what, name)
	}
	return nil
}

// Change gives an object's attribute another value behind the back of who made it.
func (w *World) Change(id, attribute string, value cty.Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.objects[id].AsValueMap()
	next[attribute] = value
	w.objects[id] = cty.ObjectVal(next)
}

// Import implements provider.Provider.
func (p *Provider) Import(_ context.Context, name, id string) (provider.Object, error) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	value, ok := p.world.objects[id]
	if !ok {
		return provider.Object{}, &provider.Fault{Summary: "there is no " + name + " " + id, Code: 404}
	}
	return provider.Object{Value: value}, nil
}

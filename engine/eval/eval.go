// Package eval gives expressions their values. It evaluates on demand: what an expression refers to is
// evaluated first, down to variables and resources, so that the order of things comes out by itself, and a
// circle is found where it closes.
package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
)

// Objects knows the values of resources and data sources.
type Objects interface {
	// Object returns the value of all instances of a block: an object, a tuple of count, or an object of
	// for_each. What isn't known yet is unknown.
	Object(s *Scope, r *config.Resource) (cty.Value, error)
}

// Evaluator evaluates one configuration. It is for one goroutine at a time.
type Evaluator struct {
	Root      *config.Module
	Inputs    map[string]cty.Value // of the root's variables
	Objects   Objects
	Workspace string

	// Settled says that values don't change any more, so that unknown ones can be remembered too.
	Settled bool

	functions map[string]function.Function
	root      *Scope
	frames    []*frame
	open      []string
}

// New makes an evaluator for a configuration.
func New(root *config.Module, inputs map[string]cty.Value, objects Objects) *Evaluator {
	return &Evaluator{Root: root, Inputs: inputs, Objects: objects, Settled: true,
		Workspace: cmp.Or(root.Workspace, "default"),
		functions: config.Functions(root.Dir)}
}

// RootScope is where the root module's expressions are evaluated.
func (e *Evaluator) RootScope() *Scope {
	if e.root == nil {
		e.root = e.newScope(e.Root, nil, nil, nil)
	}
	return e.root
}

// frame collects the resources that something depends on.
type frame struct{ deps map[string]bool }

// Begin starts collecting dependencies, and opens name: what opens a name that is open already has found a
// circle. The function it returns ends both and lists what was collected, in order.
func (e *Evaluator) Begin(name string) (func() []string, error) {
	if at := slices.Index(e.open, name); at >= 0 {
		circle := append(slices.Clone(e.open[at:]), name)
		return nil, &diag.Error{Category: diag.Cycle, Summary: "these depend on each other in a circle: " +
			strings.Join(circle, " -> "), Hint: "drop the reference from " + circle[len(circle)-2] + " to " + name}
	}
	e.open = append(e.open, name)
	f := &frame{map[string]bool{}}
	e.frames = append(e.frames, f)
	return func() []string {
		e.open = e.open[:len(e.open)-1]
		e.frames = e.frames[:len(e.frames)-1]
		deps := make([]string, 0, len(f.deps))
		for d := range f.deps {
			deps = append(deps, d)
		}
		slices.Sort(deps)
		e.Depend(deps...)
		return deps
	}, nil
}

// Depend notes that what is being evaluated depends on resources, by their addresses in the configuration.
func (e *Evaluator) Depend(deps ...string) {
	if len(e.frames) == 0 {
		return
	}
	f := e.frames[len(e.frames)-1]
	for _, d := range deps {
		f.deps[d] = true
	}
}

// remembered is a value with what it depends on.
type remembered struct {
	value cty.Value
	deps  []string
}

// once evaluates what has a name, or remembers what it was.
func (e *Evaluator) once(memo map[string]remembered, key, name string, f func() (cty.Value, error)) (cty.Value, error) {
	if r, ok := memo[key]; ok {
		e.Depend(r.deps...)
		return r.value, nil
	}
	end, err := e.Begin(name)
	if err != nil {
		return cty.NilVal, err
	}
	value, err := f()
	deps := end()
	if err == nil && (e.Settled || value.IsWhollyKnown()) {
		memo[key] = remembered{value, deps}
	}
	return value, err
}

func (e *Evaluator) newScope(m *config.Module, parent *Scope, call *config.Call, path addr.Module) *Scope {
	return &Scope{Module: m, Path: path, Parent: parent, Call: call, e: e, values: map[string]remembered{},
		children: map[string]*Scope{}}
}

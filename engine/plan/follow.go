package plan

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
)

// follower marks blocks that are created before they are destroyed, with all that they depend on: through local
// values, and from module to module through outputs and variables.
type follower struct {
	marked map[string]bool // blocks, by address in the configuration
	seen   map[string]bool // what has a name and was followed already
}

// module marks what a module, and those that it calls, have with create_before_destroy.
func (f follower) module(m *config.Module, path addr.Module) {
	for _, r := range m.SortedResources() {
		if r.Lifecycle.CreateBeforeDestroy {
			f.mark(m, path, r)
		}
	}
	for _, call := range m.SortedCalls() {
		f.module(call.Module, path.Child(call.Name, nil))
	}
}

func (f follower) mark(m *config.Module, path addr.Module, r *config.Resource) {
	key := r.Address(path, nil).Config()
	if f.marked[key] {
		return
	}
	f.marked[key] = true
	f.all(m, path, append(bodyTraversals(r.Body), r.DependsOn...))
	f.expressions(m, path, r.Count, r.ForEach)
	for m.Parent != nil && len(path) > 0 { // what its module depends on, it depends on
		call := m.Parent.Calls[path[len(path)-1].Name]
		m, path = m.Parent, path[:len(path)-1]
		if call == nil {
			return
		}
		f.all(m, path, call.DependsOn)
		f.expressions(m, path, call.Count, call.ForEach)
	}
}

func (f follower) all(m *config.Module, path addr.Module, references []hcl.Traversal) {
	for _, t := range references {
		f.follow(m, path, t)
	}
}

func (f follower) expressions(m *config.Module, path addr.Module, all ...hcl.Expression) {
	for _, e := range all {
		if e != nil {
			f.all(m, path, e.Variables())
		}
	}
}

// first reports whether something of a module has not been followed yet.
func (f follower) first(path addr.Module, name string) bool {
	key := path.Config() + " " + name
	before := f.seen[key]
	f.seen[key] = true
	return !before
}

func (f follower) follow(m *config.Module, path addr.Module, t hcl.Traversal) {
	name := ""
	if len(t) > 1 {
		if step, ok := t[1].(hcl.TraverseAttr); ok {
			name = step.Name
		}
	}
	switch t.RootName() {
	case "local":
		if l := m.Locals[name]; l != nil && f.first(path, "local."+name) {
			f.expressions(m, path, l.Expr)
		}
	case "var":
		f.variable(m, path, name)
	case "module":
		f.called(m, path, name, len(t) == 2)
	default:
		if a, _, ok := splitReference(t); ok {
			if r := m.Resources[a.WithKey(nil).String()]; r != nil {
				f.mark(m, path, r)
			}
		}
	}
}

// variable follows what the caller hands over.
func (f follower) variable(m *config.Module, path addr.Module, name string) {
	if m.Parent == nil || len(path) == 0 || !f.first(path, "var."+name) {
		return
	}
	call := m.Parent.Calls[path[len(path)-1].Name]
	if call == nil {
		return
	}
	attributes, _ := call.Body.JustAttributes() // what is wrong in it is found when it is evaluated
	if a := attributes[name]; a != nil {
		f.expressions(m.Parent, path[:len(path)-1], a.Expr)
	}
}

// called follows a module's outputs, and for depends_on everything in it.
func (f follower) called(m *config.Module, path addr.Module, name string, everything bool) {
	call := m.Calls[name]
	if call == nil || !f.first(path, "module."+name) && !everything {
		return
	}
	inner := path.Child(name, nil)
	for _, o := range call.Module.Outputs {
		f.expressions(call.Module, inner, o.Expr)
		f.all(call.Module, inner, o.DependsOn)
	}
	if !everything {
		return
	}
	for _, r := range call.Module.SortedResources() {
		f.mark(call.Module, inner, r)
	}
	for _, c := range call.Module.SortedCalls() {
		f.called(call.Module, inner, c.Name, true)
	}
}

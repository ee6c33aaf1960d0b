package plan

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/internal/graph"
)

// Blocks is which resource and data blocks of a configuration depend on which, directly or through
// variables, local values, outputs and modules. Nothing is evaluated for it, so it is there for a
// configuration that can't be planned, too.
func Blocks(root *config.Module) *graph.Graph {
	w := &wiring{all: &graph.Graph{}, blocks: map[string]bool{}}
	w.module(root, "")
	g := &graph.Graph{}
	for _, block := range slices.Sorted(maps.Keys(w.blocks)) {
		g.Add(block)
		for _, other := range w.reached(block) {
			g.Depend(block, other)
		}
	}
	return g
}

// wiring is all that has a value, and what each is made of.
type wiring struct {
	all    *graph.Graph
	blocks map[string]bool
}

// module adds what a module has. Its prefix is its address with a dot behind it.
func (w *wiring) module(m *config.Module, prefix string) {
	whole := prefix + "module"
	for _, r := range m.Resources {
		name := prefix + r.Key()
		w.blocks[name] = true
		w.all.Add(name)
		w.all.Depend(whole+" all", name)
		w.all.Depend(name, whole+" call")
		w.needs(m, prefix, name, slices.Concat(bodyTraversals(r.Body), r.DependsOn, variables(r.Count, r.ForEach),
			variables(r.Lifecycle.ReplaceTriggeredBy...)))
	}
	for name, l := range m.Locals {
		w.needs(m, prefix, prefix+"local."+name, l.Expr.Variables())
	}
	for name, o := range m.Outputs {
		w.all.Depend(whole+" all", prefix+"output."+name)
		w.needs(m, prefix, prefix+"output."+name, slices.Concat(o.Expr.Variables(), o.DependsOn))
	}
	for _, c := range m.Calls {
		w.call(m, prefix, c)
	}
}

// call adds a module that another one calls.
func (w *wiring) call(m *config.Module, prefix string, c *config.Call) {
	below := prefix + "module." + c.Name + "."
	w.all.Depend(below+"module call", prefix+"module call")
	w.needs(m, prefix, below+"module call", slices.Concat(c.DependsOn, variables(c.Count, c.ForEach)))
	w.all.Depend(prefix+"module all", below+"module all")
	attributes, _ := c.Body.JustAttributes() // what can't be read is found when it is evaluated
	for name, a := range attributes {
		w.needs(m, prefix, below+"var."+name, a.Expr.Variables())
	}
	w.module(c.Module, below)
}

func variables(expressions ...hcl.Expression) (all []hcl.Traversal) {
	for _, e := range expressions {
		if e != nil {
			all = append(all, e.Variables()...)
		}
	}
	return all
}

// needs says what a thing is made of.
func (w *wiring) needs(m *config.Module, prefix, name string, references []hcl.Traversal) {
	for _, t := range references {
		switch t.RootName() {
		case "var", "local":
			if len(t) > 1 {
				w.all.Depend(name, prefix+t.RootName()+"."+attribute(t[1]))
			}
		case "module":
			if len(t) > 1 {
				w.all.Depend(name, prefix+"module."+attribute(t[1])+"."+outputOf(t))
			}
		default:
			if a, _, ok := splitReference(t); ok && m.Resources[a.WithKey(nil).String()] != nil {
				w.all.Depend(name, prefix+a.WithKey(nil).String())
			}
		}
	}
}

// outputOf is the output of a module that a reference names, behind a key if there is one.
func outputOf(t hcl.Traversal) string {
	for _, step := range t[2:] {
		if name := attribute(step); name != "" {
			return "output." + name
		}
	}
	return "module all"
}

func attribute(step hcl.Traverser) string {
	if a, ok := step.(hcl.TraverseAttr); ok {
		return a.Name
	}
	return ""
}

// reached lists the blocks that one depends on, through whatever is no block.
func (w *wiring) reached(block string) (found []string) {
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		for _, other := range w.all.DependsOn(name) {
			if seen[other] {
				continue
			}
			seen[other] = true
			if w.blocks[other] {
				found = append(found, other)
				continue
			}
			follow(other)
		}
	}
	follow(block)
	return found
}

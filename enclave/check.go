package enclave

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/internal/graph"
)

// check looks at what no file says alone.
func (t *Tree) check(faults *Faults) {
	enclaves := map[string]*Enclave{}
	for _, e := range t.Enclaves {
		r := reader{e.File, faults}
		if other := enclaves[e.ID]; other != nil && e.ID != "" {
			r.fault(e.line, "the enclave %s is in %s already", e.ID, other.File)
		}
		enclaves[e.ID] = e
		for i, p := range e.Partitions {
			if i > 0 && p.ID != "" && e.Partitions[i-1].ID == p.ID {
				reader{p.File, faults}.fault(p.line, "the partition %s is in %s already", p.ID, e.Partitions[i-1].File)
			}
		}
	}
	for _, p := range t.Partitions() {
		r := reader{p.File, faults}
		for i := range p.Imports {
			t.link(r, p, &p.Imports[i])
		}
		p.checkInputs(r)
	}
	if len(*faults) == 0 {
		t.checkCircles(faults)
	}
}

// link finds what an import imports.
func (t *Tree) link(r reader, p *Partition, i *Import) {
	from := i.From
	if !strings.Contains(from, "/") {
		from = p.Enclave.ID + "/" + from
	}
	source := t.Partition(from)
	if source == nil {
		r.fault(i.line, "the import %s is from %s, and there is no such partition", i.Alias, from)
		return
	}
	var names []string
	for _, e := range source.Exports {
		names = append(names, e.Name)
		if e.Name == i.Export || i.Export == "" && len(source.Exports) == 1 {
			i.partition, i.outputs = source, e.Outputs
			return
		}
	}
	switch {
	case len(names) == 0:
		r.fault(i.line, "the import %s is from %s, which exports nothing", i.Alias, from)
	case i.Export == "":
		r.fault(i.line, "the import %s needs export: %s has several: %s", i.Alias, from, strings.Join(names, ", "))
	default:
		r.fault(i.line, "the import %s wants the export %s: %s has %s", i.Alias, i.Export, from, strings.Join(names, ", "))
	}
}

// checkInputs looks whether what inputs refer to is imported.
func (p *Partition) checkInputs(r reader) {
	for _, in := range p.Inputs {
		for _, ref := range in.Value.References() {
			at := slices.IndexFunc(p.Imports, func(i Import) bool { return i.Alias == ref.Alias })
			switch {
			case at < 0:
				r.fault(in.line, "inputs.%s: there is no import with the alias %s", in.Name, ref.Alias)
			case p.Imports[at].partition == nil: // which was said
			case !slices.Contains(p.Imports[at].outputs, ref.Key):
				r.fault(in.line, "inputs.%s: %s exports no %s; it has %s", in.Name, p.Imports[at].partition.Path(), ref.Key,
					strings.Join(p.Imports[at].outputs, ", "))
			}
		}
	}
}

// Graph has an edge from each partition to those that it imports from.
func (t *Tree) Graph() *graph.Graph {
	g := &graph.Graph{}
	for _, p := range t.Partitions() {
		g.Add(p.Path())
		for _, need := range p.Needs() {
			g.Depend(p.Path(), need)
		}
	}
	return g
}

// Order lists all partitions with what they import from before them.
func (t *Tree) Order() ([]*Partition, error) {
	names, err := t.Graph().Order()
	all := make([]*Partition, len(names))
	for i, name := range names {
		all[i] = t.Partition(name)
	}
	return all, err
}

// checkCircles says where partitions import from each other in a circle.
func (t *Tree) checkCircles(faults *Faults) {
	_, err := t.Graph().Order()
	circle, ok := errors.AsType[*graph.CircleError](err)
	if !ok {
		return
	}
	p, next := t.Partition(circle.Cycle[0]), circle.Cycle[1]
	for _, i := range p.Imports {
		if i.partition.Path() == next {
			reader{p.File, faults}.fault(i.line, "partitions import from each other in a circle: %s",
				strings.Join(circle.Cycle, " -> "))
			return
		}
	}
}

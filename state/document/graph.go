package document

import (
	"cmp"
	"io"
	"strconv"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// node is a resource of a graph, with all its instances.
type node struct {
	of        *Instance
	address   string
	instances int
}

// nodeBytes is what a node takes beside its address, in a list and in a map; edgeBytes what a
// dependency does.
const nodeBytes, edgeBytes = 160, 64

// WriteGraph writes which resources a state has, and which of them needs which:
//
//	{"nodes":[{"address":…,"module":…,"mode":…,"type":…,"provider":…,"instances":2}],"edges":[{"from":0,"to":1}]}
//
// Edges have the places of nodes in their list, from the one that needs to the one that is needed. A
// resource that another one says it needs and that isn't in the state is left out.
func WriteGraph(w io.Writer, body []byte, memory Memory) error {
	d, err := ParseWithin(body, memory)
	if err != nil {
		return err
	}
	nodes, places, err := nodesOf(d, memory)
	if err != nil {
		return err
	}
	list := elements{to: w, separator: `{"nodes":[`}
	for _, n := range nodes {
		if err := list.add(n.append(nil)); err != nil {
			return err
		}
	}
	if err := list.end("]"); err != nil {
		return err
	}
	return writeEdges(w, d, places, &allowance{memory: memory})
}

// nodesOf gathers the instances of each resource, in the order of the document.
func nodesOf(d *Document, memory Memory) (nodes []node, places map[string]int, err error) {
	a, places := &allowance{memory: memory}, map[string]int{}
	for i := range d.Instances {
		one := &d.Instances[i]
		address := one.Place.resource()
		at, known := places[address]
		if !known {
			if err := a.acquire(nodeBytes + 2*int64(len(address))); err != nil {
				return nil, nil, err
			}
			at = len(nodes)
			places[address], nodes = at, append(nodes, node{of: one, address: address})
		}
		nodes[at].instances++
	}
	return nodes, places, nil
}

// resource is the address of all instances of a resource.
func (p Place) resource() string {
	address := p.Type + "." + p.Name
	if p.Mode == data {
		address = data + "." + address
	}
	if p.Module != "" {
		address = p.Module + "." + address
	}
	return address
}

func (n node) append(to []byte) []byte {
	to = jsonscan.AppendQuote(append(to, `{"address":`...), n.address)
	to = jsonscan.AppendQuote(append(to, `,"module":`...), n.of.Module)
	to = jsonscan.AppendQuote(append(to, `,"mode":`...), n.of.Mode)
	to = jsonscan.AppendQuote(append(to, `,"type":`...), n.of.Type)
	provider := n.of.Provider()
	to = jsonscan.AppendQuote(append(to, `,"provider":`...), cmp.Or(provider.Source, provider.Name))
	to = strconv.AppendInt(append(to, `,"instances":`...), int64(n.instances), 10)
	return append(to, '}')
}

// writeEdges writes each dependency of a resource once, however many of its instances have it.
func writeEdges(w io.Writer, d *Document, places map[string]int, a *allowance) error {
	list, seen := elements{to: w, separator: `,"edges":[`}, map[[2]int]bool{}
	for i := range d.Instances {
		from := places[d.Instances[i].Place.resource()]
		for _, address := range d.Instances[i].Dependencies() {
			to, known := places[address]
			edge := [2]int{from, to}
			if !known || seen[edge] {
				continue
			}
			if err := a.acquire(edgeBytes); err != nil {
				return err
			}
			seen[edge] = true
			line := strconv.AppendInt([]byte(`{"from":`), int64(from), 10)
			if err := list.add(append(strconv.AppendInt(append(line, `,"to":`...), int64(to), 10), '}')); err != nil {
				return err
			}
		}
	}
	return list.end("]}\n")
}

// elements writes the elements of a list, with what comes before the next one.
type elements struct {
	to        io.Writer
	separator string
	some      bool
}

func (e *elements) add(element []byte) error {
	_, err := e.to.Write(append([]byte(e.separator), element...))
	e.separator, e.some = ",", true
	return err
}

func (e *elements) end(text string) error {
	if !e.some {
		text = e.separator + text
	}
	_, err := io.WriteString(e.to, text)
	return err
}

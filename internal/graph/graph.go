// Package graph keeps what depends on what, puts it in order, and finds circles.
package graph

import (
	"container/heap"
	"slices"
	"strings"
)

// Graph is a directed graph of named nodes. The zero value is empty.
type Graph struct {
	index  map[string]int
	names  []string
	needs  [][]int // what a node depends on
	needed [][]int // what depends on a node
}

// Add adds a node; one that is there already stays as it is.
func (g *Graph) Add(name string) { g.id(name) }

func (g *Graph) id(name string) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	if g.index == nil {
		g.index = map[string]int{}
	}
	i := len(g.names)
	g.index[name] = i
	g.names, g.needs, g.needed = append(g.names, name), append(g.needs, nil), append(g.needed, nil)
	return i
}

// Depend says that node depends on other. Both are added if they aren't there.
func (g *Graph) Depend(node, other string) {
	a, b := g.id(node), g.id(other)
	g.needs[a], g.needed[b] = append(g.needs[a], b), append(g.needed[b], a)
}

// Len is how many nodes there are.
func (g *Graph) Len() int { return len(g.names) }

// Has reports whether there is a node with this name.
func (g *Graph) Has(name string) bool {
	_, ok := g.index[name]
	return ok
}

// Names lists the nodes in the order of the alphabet.
func (g *Graph) Names() []string { return slices.Sorted(slices.Values(g.names)) }

// DependsOn lists what a node depends on, sorted.
func (g *Graph) DependsOn(name string) []string { return g.listed(g.needs, name) }

// RequiredBy lists what depends on a node, sorted.
func (g *Graph) RequiredBy(name string) []string { return g.listed(g.needed, name) }

func (g *Graph) listed(edges [][]int, name string) []string {
	i, ok := g.index[name]
	if !ok {
		return nil
	}
	var all []string
	for _, j := range edges[i] {
		all = append(all, g.names[j])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Order lists all nodes with what they depend on before them, and by the alphabet where that leaves a
// choice. A circle is an error that shows it.
func (g *Graph) Order() ([]string, error) {
	waiting := make([]int, len(g.names))
	ready := &byRank{}
	rank, ids := g.ranks()
	for i, needs := range g.needs {
		waiting[i] = len(needs)
		if len(needs) == 0 {
			*ready = append(*ready, rank[i])
		}
	}
	heap.Init(ready)
	order := make([]string, 0, len(g.names))
	for ready.Len() > 0 {
		i := ids[heap.Pop(ready).(int)]
		order = append(order, g.names[i])
		for _, j := range g.needed[i] {
			if waiting[j]--; waiting[j] == 0 {
				heap.Push(ready, rank[j])
			}
		}
	}
	if len(order) < len(g.names) {
		return nil, &CircleError{g.Cycle()}
	}
	return order, nil
}

// Reverse is Order from behind: for deletion.
func (g *Graph) Reverse() ([]string, error) {
	order, err := g.Order()
	slices.Reverse(order)
	return order, err
}

// CircleError says that nodes depend on each other in a circle: its nodes, with the first again at the end.
type CircleError struct{ Cycle []string }

func (e *CircleError) Error() string {
	return "these depend on each other in a circle: " + strings.Join(e.Cycle, " -> ")
}

// Hint says which edge to drop; empty where there is nothing to say.
func (e *CircleError) Hint() string {
	n := len(e.Cycle)
	if n < 2 {
		return ""
	}
	return "drop the reference from " + e.Cycle[n-2] + " to " + e.Cycle[n-1]
}

// Cycle finds a circle: its nodes, with the first again at the end. It is nil if there is none.
func (g *Graph) Cycle() []string {
	const white, grey, black = 0, 1, 2
	colour := make([]byte, len(g.names))
	next := make([]int, len(g.names))
	for _, start := range g.Names() {
		stack := []int{g.index[start]}
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			if colour[i] == black {
				stack = stack[:len(stack)-1]
				continue
			}
			colour[i] = grey
			if next[i] == len(g.needs[i]) {
				colour[i] = black
				stack = stack[:len(stack)-1]
				continue
			}
			j := g.needs[i][next[i]]
			next[i]++
			switch colour[j] {
			case white:
				stack = append(stack, j)
			case grey:
				return g.path(append(stack[slices.Index(stack, j):], j))
			}
		}
	}
	return nil
}

func (g *Graph) path(ids []int) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = g.names[id]
	}
	return names
}

// ranks are the places of the nodes in the alphabet, and the nodes by these places.
func (g *Graph) ranks() (rank, ids []int) {
	ids = make([]int, len(g.names))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(a, b int) int { return strings.Compare(g.names[a], g.names[b]) })
	rank = make([]int, len(ids))
	for place, i := range ids {
		rank[i] = place
	}
	return rank, ids
}

// byRank is a heap of ranks, the first by the alphabet on top.
type byRank []int

func (b byRank) Len() int           { return len(b) }
func (b byRank) Less(i, j int) bool { return b[i] < b[j] }
func (b byRank) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *byRank) Push(x any)        { *b = append(*b, x.(int)) }
func (b *byRank) Pop() any {
	old := *b
	last := old[len(old)-1]
	*b = old[:len(old)-1]
	return last
}

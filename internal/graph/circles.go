package graph

import "slices"

// Circles lists the groups of nodes that depend on each other in circles, each sorted, the first by the
// alphabet first. A node that depends on itself is a group of one. (Tarjan, Depth-first search and linear
// graph algorithms, 1972, without recursion.)
func (g *Graph) Circles() [][]string {
	t := tarjan{g: g, number: make([]int, len(g.names)), low: make([]int, len(g.names)),
		next: make([]int, len(g.names)), on: make([]bool, len(g.names))}
	for i := range g.names {
		if t.number[i] == 0 {
			t.search(i)
		}
	}
	slices.SortFunc(t.found, func(a, b []string) int { return slices.Compare(a, b) })
	return t.found
}

type tarjan struct {
	g            *Graph
	number, low  []int // in the order of discovery, from 1; the first that is reached on the stack
	next         []int // which edge comes next
	on           []bool
	stack, calls []int
	count        int
	found        [][]string
}

func (t *tarjan) search(start int) {
	t.enter(start)
	for len(t.calls) > 0 {
		i := t.calls[len(t.calls)-1]
		if t.next[i] < len(t.g.needs[i]) {
			j := t.g.needs[i][t.next[i]]
			t.next[i]++
			if t.number[j] == 0 {
				t.enter(j)
			} else if t.on[j] {
				t.low[i] = min(t.low[i], t.number[j])
			}
			continue
		}
		t.calls = t.calls[:len(t.calls)-1]
		if len(t.calls) > 0 {
			caller := t.calls[len(t.calls)-1]
			t.low[caller] = min(t.low[caller], t.low[i])
		}
		if t.low[i] == t.number[i] {
			t.leave(i)
		}
	}
}

func (t *tarjan) enter(i int) {
	t.count++
	t.number[i], t.low[i], t.on[i] = t.count, t.count, true
	t.stack, t.calls = append(t.stack, i), append(t.calls, i)
}

// leave takes a whole group from the stack.
func (t *tarjan) leave(root int) {
	at := slices.Index(t.stack, root)
	group := t.stack[at:]
	t.stack = t.stack[:at]
	for _, i := range group {
		t.on[i] = false
	}
	if len(group) == 1 && !slices.Contains(t.g.needs[root], root) {
		return
	}
	names := t.g.path(group)
	slices.Sort(names)
	t.found = append(t.found, names)
}

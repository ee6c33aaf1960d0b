package graph

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCircleIsShown(t *testing.T) {
	var g Graph
	g.Depend("a", "b")
	g.Depend("b", "c")
	g.Depend("c", "a")
	_, err := g.Order()
	if cycle := g.Cycle(); err == nil || !slices.Equal(cycle, []string{"a", "b", "c", "a"}) {
		t.Errorf("%v %v", cycle, err)
	}
}

func TestOrderRespectsEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var g Graph
		n := rapid.IntRange(1, 40).Draw(rt, "nodes")
		for i := range n {
			g.Add(fmt.Sprint(i))
			for _, j := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 4).Draw(rt, "edges") {
				if j < i {
					g.Depend(fmt.Sprint(i), fmt.Sprint(j))
				}
			}
		}
		order, err := g.Order()
		if err != nil || len(order) != n {
			rt.Fatalf("%v %v", order, err)
		}
		at := map[string]int{}
		for i, name := range order {
			at[name] = i
		}
		for _, name := range order {
			for _, d := range g.DependsOn(name) {
				if at[d] > at[name] {
					rt.Fatalf("%s comes before %s, which it depends on", name, d)
				}
			}
		}
	})
}

func BenchmarkOrder100000(b *testing.B) {
	for b.Loop() {
		var g Graph
		for i := range 100_000 {
			g.Depend(fmt.Sprintf("n%06d", i), fmt.Sprintf("n%06d", i/2))
			if i == 0 {
				g = Graph{}
				g.Add("n000000")
			}
		}
		if _, err := g.Order(); err != nil {
			b.Fatal(err)
		}
	}
}

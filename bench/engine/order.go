package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/holdfast/holdfast/engine/provider/fake"
	"github.com/holdfast/holdfast/internal/graph"
)

// What a large graph and an apply may take.
const (
	orderWithin = time.Second
	applyWithin = 1.2 // times what the latency allows
)

// edges is how many others a node depends on at most.
const edges = 3

// orders measures how long it takes to make a random graph and to put it in order.
func orders(_ context.Context, o options) error {
	names := make([]string, o.nodes)
	for i := range names {
		names[i] = fmt.Sprintf("n%06d", i)
	}
	took, _, err := middle(o.runs, func() (time.Duration, int64, error) {
		random := rand.New(rand.NewPCG(1, 2))
		begin := time.Now()
		var g graph.Graph
		for i, name := range names {
			g.Add(name)
			for range min(i, random.IntN(edges+1)) {
				g.Depend(name, names[random.IntN(i)])
			}
		}
		order, err := g.Order()
		if err == nil && len(order) != o.nodes {
			err = fmt.Errorf("the order has %d nodes", len(order))
		}
		return time.Since(begin), 0, err
	})
	if err == nil {
		row(fmt.Sprintf("graph and order of %d nodes", o.nodes), seconds(took), seconds(orderWithin), took < orderWithin)
	}
	return err
}

// applies measures an apply of independent objects, each of which takes its time.
func applies(ctx context.Context, o options) error {
	took, _, err := middle(o.runs, func() (time.Duration, int64, error) {
		dir, err := os.MkdirTemp("", "holdfast-bench-engine")
		if err != nil {
			return 0, 0, err
		}
		defer os.RemoveAll(dir)
		if err := configure(dir, "", fakeResource, o.objects); err != nil {
			return 0, 0, err
		}
		took, err := applied(ctx, dir, &fake.World{Latency: o.latency}, o.parallelism, o.objects)
		return took, 0, err
	})
	if err != nil {
		return err
	}
	turns := (o.objects + o.parallelism - 1) / o.parallelism
	allowed := time.Duration(turns) * o.latency
	most := time.Duration(applyWithin * float64(allowed))
	row(fmt.Sprintf("apply of %d independent resources of %s, %d at once", o.objects, o.latency, o.parallelism),
		fmt.Sprintf("%s, %.2f of what the latency allows", seconds(took), took.Seconds()/allowed.Seconds()), seconds(most),
		took <= most)
	return nil
}

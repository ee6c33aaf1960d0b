package main

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/sample"
)

// curve is a figure as a function of how much of something there is.
type curve struct {
	name   string
	points []int
	// reach makes the server have so much, and measures it there.
	reach func(ctx context.Context, g *growing, x int) (point, error)
}

const (
	size10KB  = 10_000
	size1MB   = 1_000_000
	size10MB  = 10_000_000
	few       = 16 // connections
	many      = 64
	perUpload = 100 // instances

	// idle is how long a server that has started is left alone before its memory counts.
	idle = 2 * time.Second
)

func curves() []curve {
	tens := []int{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000}
	return []curve{
		{"writers of 10 MB", []int{many}, writers},
		{"stored states of 10 versions", []int{10_000}, stored},
		{"states", tens[2:7], states},
		{"versions", tens[:5], versions(size10KB)},
		{"versions of 1 MB", tens[:4], versions(size1MB)},
		{"organizations", tens[:6], organizations},
		{"state size", []int{size10KB, 100_000, size1MB, size10MB}, stateSize},
		{"uploaded rows", tens[2:], uploadedRows},
	}
}

// writers has connections write large states: what counts is the peak of memory, and that
// nothing fails. More at once than there is room for are told to wait.
func writers(ctx context.Context, g *growing, connections int) (point, error) {
	return g.fresh(ctx, 0, bench.Options{Mix: bench.Cycle, Size: size10MB, Connections: connections, Patient: true})
}

// stored starts the server on what was stored before: how long that takes, and how much
// memory it has when nobody asks it for anything.
func stored(ctx context.Context, g *growing, count int) (point, error) {
	if err := g.identify(many, 0); err != nil {
		return point{}, err
	}
	if err := g.beside(ctx, "states of 10 versions", size10KB, count, 10); err != nil {
		return point{}, err
	}
	if err := g.serve(ctx); err != nil {
		return point{}, err
	}
	time.Sleep(idle)
	return g.look()
}

// states adds states beside the ones that are measured.
func states(ctx context.Context, g *growing, count int) (point, error) {
	if err := g.identify(few, 0); err != nil {
		return point{}, err
	}
	if err := g.beside(ctx, "states", sample.MinState, count, 1); err != nil {
		return point{}, err
	}
	return g.resume(ctx, bench.Options{Mix: bench.Cycle, Size: sample.MinState, Connections: few})
}

// versions gives the states that are measured a longer history.
func versions(size int) func(context.Context, *growing, int) (point, error) {
	return func(ctx context.Context, g *growing, count int) (point, error) {
		if err := g.identify(few, 0); err != nil {
			return point{}, err
		}
		if err := g.history(ctx, size, count); err != nil {
			return point{}, err
		}
		before := max(count, g.reached)
		p, err := g.resume(ctx, bench.Options{Mix: bench.Cycle, Size: size, Connections: few})
		p.X, g.reached = before, before+int(p.Operations)/few // what is measured counts too
		return p, err
	}
}

// organizations has a longer auth file for each point, on a disk of its own.
func organizations(ctx context.Context, g *growing, count int) (point, error) {
	return g.fresh(ctx, max(0, count-few), bench.Options{Mix: bench.Cycle, Size: size10KB, Connections: few})
}

func stateSize(ctx context.Context, g *growing, size int) (point, error) {
	return g.fresh(ctx, 0, bench.Options{Mix: bench.Cycle, Size: size, Connections: few})
}

// uploadedRows has one organization upload more and more.
func uploadedRows(ctx context.Context, g *growing, rows int) (point, error) {
	if err := g.identify(1, 0); err != nil {
		return point{}, err
	}
	if err := g.uploads(ctx, rows/perUpload); err != nil {
		return point{}, err
	}
	before := max(rows/perUpload, g.reached)
	p, err := g.resume(ctx, bench.Options{Mix: bench.Upload, Connections: few, Instances: perUpload})
	p.X, g.reached = before*perUpload, before+int(p.Operations) // what is measured counts too
	return p, err
}

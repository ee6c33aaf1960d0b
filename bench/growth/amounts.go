package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast/holdfast/bench/sample"
)

const (
	// loadName begins the names of the states that are measured, one for each connection.
	loadName = "growth"
	seed     = 1
)

// beside prepares states beside those that are measured, up to so many, with so many
// versions each.
func (g *growing) beside(ctx context.Context, what string, size, count, versions int) error {
	err := g.prepare(ctx, what, func(p *preparing) error {
		drafts := make([]*sample.State, preparers)
		for i := range drafts {
			drafts[i] = sample.NewState(size, uint64(i))
		}
		return p.each(preparers, g.reached, count, func(writer, n int) error {
			org := g.who.All[n%len(g.who.All)].Org
			return firstOf(ctx, p.versions(ctx, org, fmt.Sprintf("beside-%d", n), drafts[writer], versions))
		})
	})
	g.reached = max(g.reached, count)
	return err
}

// history prepares versions of the states that are measured, up to so many each.
func (g *growing) history(ctx context.Context, size, count int) error {
	missing := count - g.reached
	if missing <= 0 {
		return g.end()
	}
	return g.prepare(ctx, fmt.Sprintf("versions of each of %d states", few), func(p *preparing) error {
		drafts, turns := make([]*sample.State, few), make([]sync.Mutex, few)
		for i := range drafts {
			drafts[i] = sample.NewState(size, seed+uint64(i))
		}
		return p.each(few, 0, few*missing, func(_, n int) error {
			n %= few
			turns[n].Lock()
			defer turns[n].Unlock()
			return firstOf(ctx, p.versions(ctx, g.who.All[n].Org, fmt.Sprintf("%s-%d", loadName, n), drafts[n], 1))
		})
	})
}

// uploads prepares uploads of the first organization, up to so many.
func (g *growing) uploads(ctx context.Context, count int) error {
	if count <= g.reached {
		return g.end()
	}
	return g.prepare(ctx, fmt.Sprintf("uploads of %d rows", perUpload), func(p *preparing) error {
		drafts := make([]*sample.Upload, preparers)
		for i := range drafts {
			drafts[i] = sample.NewUpload(perUpload, uint64(i))
		}
		return p.each(preparers, g.reached, count, func(writer, _ int) error {
			return firstOf(ctx, p.upload(ctx, g.who.All[0].Org, drafts[writer]))
		})
	})
}

// firstOf prefers to say that the time is up.
func firstOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

package hooks

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/plan"
)

// Canary does a share of a plan first, checks, and lets the rest follow only if the check goes well. It is an
// example of a strategy that needs nothing but hooks.
type Canary struct {
	Share int // in percent; at least one object is done first
	Check func(ctx context.Context) error

	mu      sync.Mutex
	first   int // objects of the share that aren't begun
	running int
	checked chan struct{}
	failed  error
	made    []addr.Resource
}

// Hooks are to be given to an engine. A Canary is for one apply.
func (c *Canary) Hooks() engine.Hooks {
	return engine.Hooks{BeforeApply: c.begin, BeforeResource: c.before, AfterResource: c.after}
}

func (c *Canary) begin(_ context.Context, p *plan.Plan) error {
	todo := 0
	for _, change := range p.Changes {
		if change.Action != plan.NoOp {
			todo++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked = make(chan struct{})
	c.first = min(max(1, todo*c.Share/100), todo)
	if c.first == 0 {
		close(c.checked)
	}
	return nil
}

// before lets the share through, and has the others wait for the check.
func (c *Canary) before(ctx context.Context, _ *plan.Change) error {
	c.mu.Lock()
	if c.first > 0 {
		c.first--
		c.running++
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	select {
	case <-c.checked:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// after checks once the share is done.
func (c *Canary) after(ctx context.Context, change *plan.Change, failed error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed == nil && change.Action == plan.Create {
		c.made = append(c.made, change.Address)
	}
	select {
	case <-c.checked:
		return nil
	default:
	}
	if c.running--; failed != nil && c.failed == nil {
		c.failed = fmt.Errorf("the first share failed at %s", change.Address)
	}
	if c.running > 0 || c.first > 0 && c.failed == nil {
		return nil
	}
	if c.failed == nil {
		if err := c.Check(ctx); err != nil {
			c.failed = &diag.Error{Category: diag.Partial, Summary: "the check after the first share failed",
				Detail: err.Error(), Err: err, Hint: "what the share has made can be rolled back"}
		}
	}
	close(c.checked)
	return c.failed
}

// RollBack deletes what the apply has made.
func (c *Canary) RollBack(ctx context.Context, e *engine.Engine) error {
	c.mu.Lock()
	made := c.made
	c.mu.Unlock()
	if len(made) == 0 {
		return nil
	}
	p, err := e.Plan(ctx, plan.Options{Destroy: true, Targets: made})
	if err != nil {
		return err
	}
	_, err = e.Apply(ctx, p, apply.Options{})
	return err
}

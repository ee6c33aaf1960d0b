package statetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/state"
)

// The stores here each break one promise, as a real store might.

// twisted is a store whose Updates are bent.
type twisted struct {
	state.Store
	update func(call) (state.Head, error)
}

// call is an Update on its way to the store below.
type call struct {
	next   state.Store
	ctx    context.Context
	ref    state.Ref
	body   []byte
	decide state.Decide
}

func (c call) make() (state.Head, error) { return c.next.Update(c.ctx, c.ref, c.body, c.decide) }

func (s twisted) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	return s.update(call{s.Store, ctx, ref, body, decide})
}

// dropsWrites acknowledges every fifth write without recording it.
func dropsWrites(next state.Store) state.Store {
	var writes atomic.Int64
	return twisted{next, func(c call) (state.Head, error) {
		var dropped *state.Version
		head, err := c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
			change, err := c.decide(h)
			if change.Version != nil && writes.Add(1)%5 == 0 {
				dropped, change.Version = change.Version, nil
			}
			return change, err
		})
		if err == nil && dropped != nil {
			head.Version = *dropped
		}
		return head, err
	}}
}

// checksThenWrites decides on a head that others may change before the write: two writers
// get one number, two lockers get the lock.
func checksThenWrites(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		head, err := c.next.Head(c.ctx, c.ref)
		if err != nil {
			return state.Head{}, err
		}
		change, err := c.decide(head)
		if err != nil {
			return state.Head{}, err
		}
		runtime.Gosched()
		head, err = c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
			forced := change
			if forced.Version != nil {
				version := *forced.Version
				version.Number = h.Version.Number + 1
				forced.Version = &version
			}
			return forced, nil
		})
		if err == nil && change.Version != nil {
			head.Version = *change.Version
		}
		return head, err
	}}
}

// seesHeads lets decisions see bent heads.
func seesHeads(bend func(*state.Head)) func(state.Store) state.Store {
	return func(next state.Store) state.Store {
		return twisted{next, func(c call) (state.Head, error) {
			return c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
				bend(&h)
				return c.decide(h)
			})
		}}
	}
}

// doubleGrants overlooks a lock now and then.
func doubleGrants(next state.Store) state.Store {
	var calls atomic.Int64
	return seesHeads(func(h *state.Head) {
		if calls.Add(1)%7 == 0 {
			h.Lock = nil
		}
	})(next)
}

// bendsChanges records something else than what was decided.
func bendsChanges(bend func(*state.Change)) func(state.Store) state.Store {
	return func(next state.Store) state.Store {
		return twisted{next, func(c call) (state.Head, error) {
			return c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
				change, err := c.decide(h)
				bend(&change)
				return change, err
			})
		}}
	}
}

func truncatesTimes(c *state.Change) {
	if c.Version != nil {
		version := *c.Version
		version.CreatedAt = version.CreatedAt.Truncate(time.Millisecond)
		c.Version = &version
	}
}

func compactsLockInfos(c *state.Change) {
	if c.Lock != nil {
		var compact bytes.Buffer
		_ = json.Compact(&compact, c.Lock.Info.Raw)
		lock := *c.Lock
		lock.Info.Raw = compact.Bytes()
		c.Lock = &lock
	}
}

// recordsRefused takes the change that stands beside an error.
func recordsRefused(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		var refusal error
		head, err := c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (change state.Change, err error) {
			change, refusal = c.decide(h)
			return change, nil
		})
		if refusal != nil {
			return state.Head{}, refusal
		}
		return head, err
	}}
}

func wrapsErrors(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		head, err := c.make()
		if err != nil {
			err = fmt.Errorf("update: %w", err)
		}
		return head, err
	}}
}

func ignoresContexts(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		c.ctx = context.WithoutCancel(c.ctx)
		return c.make()
	}}
}

// goesOn returns when the context ends, and carries the Update out behind the back.
func goesOn(next state.Store) state.Store {
	type answer struct {
		head state.Head
		err  error
	}
	return twisted{next, func(c call) (state.Head, error) {
		ctx := c.ctx
		if ctx.Err() != nil {
			return state.Head{}, ctx.Err()
		}
		c.ctx = context.WithoutCancel(ctx)
		done := make(chan answer, 1)
		go func() {
			runtime.Gosched()
			head, err := c.make()
			done <- answer{head, err}
		}()
		select {
		case <-ctx.Done():
			return state.Head{}, ctx.Err()
		case a := <-done:
			return a.head, a.err
		}
	}}
}

func truncatesBodies(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		c.body = c.body[:min(len(c.body), 1<<20)]
		return c.make()
	}}
}

package storagetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// The stores here each break one promise, as a real store might.

// twisted is a store whose Updates are bent.
type twisted struct {
	state.Store
	update func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error)
}

func (s twisted) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	return s.update(s.Store, ctx, ref, body, decide)
}

// dropsWrites acknowledges every fifth write without recording it.
func dropsWrites(next state.Store) state.Store {
	var writes atomic.Int64
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		var dropped *state.Version
		head, err := next.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
			change, err := decide(h)
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
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		head, err := next.Head(ctx, ref)
		if err != nil {
			return state.Head{}, err
		}
		change, err := decide(head)
		if err != nil {
			return state.Head{}, err
		}
		runtime.Gosched()
		head, err = next.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
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
		return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
			return next.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
				bend(&h)
				return decide(h)
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
		return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
			return next.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
				change, err := decide(h)
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
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		var refusal error
		head, err := next.Update(ctx, ref, body, func(h state.Head) (change state.Change, err error) {
			change, refusal = decide(h)
			return change, nil
		})
		if refusal != nil {
			return state.Head{}, refusal
		}
		return head, err
	}}
}

func wrapsErrors(next state.Store) state.Store {
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		head, err := next.Update(ctx, ref, body, decide)
		if err != nil {
			err = fmt.Errorf("update: %w", err)
		}
		return head, err
	}}
}

func ignoresContexts(next state.Store) state.Store {
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		return next.Update(context.WithoutCancel(ctx), ref, body, decide)
	}}
}

// goesOn returns when the context ends, and carries the Update out behind the back.
func goesOn(next state.Store) state.Store {
	type answer struct {
		head state.Head
		err  error
	}
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		if ctx.Err() != nil {
			return state.Head{}, ctx.Err()
		}
		done := make(chan answer, 1)
		go func() {
			runtime.Gosched()
			head, err := next.Update(context.WithoutCancel(ctx), ref, body, decide)
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
	return twisted{next, func(next state.Store, ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
		return next.Update(ctx, ref, body[:min(len(body), 1<<20)], decide)
	}}
}

// leaksOrganizations has one room for all.
type leaksOrganizations struct{ state.Store }

func (s leaksOrganizations) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	return s.Store.Current(ctx, state.Ref{Org: uuid.Nil, Name: ref.Name})
}

func (s leaksOrganizations) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	return s.Store.Head(ctx, state.Ref{Org: uuid.Nil, Name: ref.Name})
}

func (s leaksOrganizations) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	return s.Store.Update(ctx, state.Ref{Org: uuid.Nil, Name: ref.Name}, body, decide)
}

// leaksVersions looks for an old version without looking at the organization.
type leaksVersions struct {
	state.Store
	mu   sync.Mutex
	refs map[state.Name]state.Ref
}

func (s *leaksVersions) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.mu.Lock()
	s.refs[ref.Name] = ref
	s.mu.Unlock()
	return s.Store.Update(ctx, ref, body, decide)
}

func (s *leaksVersions) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	got, err := s.Store.Version(ctx, ref, number)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.Store.Version(ctx, s.refs[ref.Name], number)
	}
	return got, err
}

// saysNotFound takes every error for an absent state.
type saysNotFound struct{ state.Store }

func (s saysNotFound) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	err := ctx.Err()
	if err == nil {
		var got state.Snapshot
		if got, err = s.Store.Current(ctx, ref); err == nil {
			return got, nil
		}
	}
	return state.Snapshot{}, fault.Wrap(err, fault.StateNotFound, "there is no such state")
}

// servesStale keeps what it loads until the next write has ended, whatever happened
// during the load.
type servesStale struct {
	state.Store
	entries sync.Map
}

func (s *servesStale) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	if got, ok := s.entries.Load(ref); ok {
		return got.(state.Snapshot), nil
	}
	got, err := s.Store.Current(ctx, ref)
	runtime.Gosched()
	if err == nil {
		s.entries.Store(ref, got)
	}
	return got, err
}

func (s *servesStale) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	defer s.entries.Delete(ref)
	return s.Store.Update(ctx, ref, body, decide)
}

func (s *servesStale) Close() error {
	s.entries.Clear()
	return s.Store.Close()
}

// leavesGoroutine has one that outlives Close.
func leavesGoroutine(next state.Store) state.Store {
	go func() { <-make(chan struct{}) }()
	return next
}

// closesEarly lets Close go ahead of an Update that has begun.
type closesEarly struct {
	state.Store
	busy atomic.Int64
}

func (s *closesEarly) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	return s.Store.Update(ctx, ref, body, decide)
}

func (s *closesEarly) Close() error {
	if s.busy.Load() > 0 {
		return nil
	}
	return s.Store.Close()
}

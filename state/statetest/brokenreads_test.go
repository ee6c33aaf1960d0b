package statetest_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// leaksOrganizations has one room for all.
type leaksOrganizations struct{ state.Store }

func (s leaksOrganizations) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	return s.Store.Current(ctx, state.Ref{Org: uuid.Nil, Name: ref.Name})
}

func (s leaksOrganizations) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	return s.Store.Head(ctx, state.Ref{Org: uuid.Nil, Name: ref.Name})
}

func (s leaksOrganizations) Update(ctx context.Context, ref state.Ref, body []byte,
	decide state.Decide) (state.Head, error) {
	return s.Store.Update(ctx, state.Ref{Org: uuid.Nil, Name: ref.Name}, body, decide)
}

// leaksVersions looks for an old version without looking at the organization.
type leaksVersions struct {
	state.Store
	mu   sync.Mutex
	refs map[state.Name]state.Ref
}

func (s *leaksVersions) Update(ctx context.Context, ref state.Ref, body []byte,
	decide state.Decide) (state.Head, error) {
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

package statetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkEndedContext calls with a context that has ended. A write is refused. A read may
// be served all the same, but it must never say that there is no state.
func checkEndedContext(t *testing.T, store state.Store) {
	ref, body := newRef("ended"), stateBody(1, "")
	before := put(t, store, ref, body)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, decide := range map[string]state.Decide{
		"write": accept(describe(stateBody(2, ""))), "delete": always(state.Change{Delete: true}),
		"lock": always(state.Change{Lock: newLock(t, "ended")}), "nothing": always(state.Change{}),
	} {
		if _, err := store.Update(ctx, ref, stateBody(2, ""), decide); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
	wantHead(t, store, ref, before)
	snapshot, err := store.Current(ctx, ref)
	readEnded(t, "Current", before.Version, snapshot.Version, err)
	snapshot, err = store.Version(ctx, ref, 1)
	readEnded(t, "Version", before.Version, snapshot.Version, err)
	head, err := store.Head(ctx, ref)
	readEnded(t, "Head", before.Version, head.Version, err)
}

func readEnded(t *testing.T, what string, want, got state.Version, err error) {
	t.Helper()
	switch {
	case err == nil:
		suite.Equal(t, what, want, got)
	case !errors.Is(err, context.Canceled) || fault.Is(err, fault.StateNotFound):
		t.Errorf("%s: error %v, want context.Canceled", what, err)
	}
}

// checkEndingContext ends contexts while Updates run. Whatever an Update answers, it is
// over by then: nothing changes afterwards.
func checkEndingContext(t *testing.T, store state.Store) {
	suite.Together(t, 4, func(ctx context.Context, worker int) error {
		ref, other := newRef("ending"), newRef("other")
		for i := range 50 {
			if err := endDuringUpdate(ctx, store, ref, other, stateBody(uint64(i), "")); err != nil {
				return fmt.Errorf("worker %d, update %d: %w", worker, i, err)
			}
		}
		return nil
	})
}

func endDuringUpdate(ctx context.Context, store state.Store, ref, other state.Ref, body []byte) error {
	before, err := store.Head(ctx, ref)
	if err != nil {
		return err
	}
	ending, cancel := context.WithCancel(ctx)
	go cancel()
	returned, err := store.Update(ending, ref, body, accept(describe(body)))
	<-ending.Done()
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("error %w, want context.Canceled", err)
	}
	after, headErr := store.Head(ctx, ref)
	// Whatever waited in a queue behind the Update is carried out by the end of this one.
	_, otherErr := store.Update(ctx, other, body, accept(describe(body)))
	later, laterErr := store.Head(ctx, ref)
	if err := errors.Join(headErr, otherErr, laterErr); err != nil {
		return err
	}
	switch {
	case err == nil && !cmp.Equal(after, returned):
		return fmt.Errorf("the head is not what Update returned:\n%s", cmp.Diff(returned, after))
	case after.Version.Number > before.Version.Number+1:
		return fmt.Errorf("one write led from version %d to %d", before.Version.Number, after.Version.Number)
	case !cmp.Equal(after, later):
		return fmt.Errorf("the head changed after Update had returned:\n%s", cmp.Diff(after, later))
	}
	return nil
}

// checkClose calls a closed store.
func checkClose(t *testing.T, open func(t *testing.T) state.Store) {
	before := runtime.NumGoroutine()
	store, ref, body := open(t), newRef("closed"), stateBody(1, "")
	put(t, store, ref, body)
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "closed")}))
	suite.CloseChecked(t, store, before)
	for range 2 {
		_, err := store.Current(t.Context(), ref)
		suite.Fault(t, "Current", err, fault.StoreUnavailable)
		_, err = store.Current(t.Context(), newRef("unknown"))
		suite.Fault(t, "Current of an unknown state", err, fault.StoreUnavailable)
		_, err = store.Head(t.Context(), ref)
		suite.Fault(t, "Head", err, fault.StoreUnavailable)
		_, err = store.Version(t.Context(), ref, 1)
		suite.Fault(t, "Version", err, fault.StoreUnavailable)
		_, err = store.Update(t.Context(), ref, body, accept(describe(body)))
		suite.Fault(t, "Update", err, fault.StoreUnavailable)
		suite.Fault(t, "Ready", store.Ready(t.Context()), fault.StoreUnavailable)
	}
}

// checkCloseWaits closes a store in the middle of an Update.
func checkCloseWaits(t *testing.T, open func(t *testing.T) state.Store) {
	store, body := open(t), stateBody(1, "")
	var once sync.Once
	var closed atomic.Bool
	closing, done := make(chan struct{}), make(chan error, 1)
	shut := func() {
		close(closing)
		err := store.Close()
		closed.Store(true)
		done <- err
	}
	_, err := store.Update(t.Context(), newRef("waits"), body, func(h state.Head) (state.Change, error) {
		once.Do(func() { go shut() }) // a store may decide again
		<-closing
		for range 100 {
			runtime.Gosched() // a chance for Close to return too early
		}
		if closed.Load() {
			t.Error("Close returned while an Update was deciding")
		}
		return accept(describe(body))(h)
	})
	if err != nil {
		t.Fatalf("the Update that had begun: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Close: %v", err)
	}
}

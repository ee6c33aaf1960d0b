package verify

import (
	"context"
	"sync"
)

// flights lets callers who ask the same thing at the same time share one answer. Unlike
// golang.org/x/sync/singleflight it lets a caller go without failing the others, and
// stops the work when the last one has gone.
type flights[K comparable, V any] struct {
	mu      sync.Mutex
	running map[K]*flight[V]
}

type flight[V any] struct {
	done    chan struct{}
	stop    context.CancelFunc
	callers int
	value   V
	err     error
}

func newFlights[K comparable, V any]() *flights[K, V] {
	return &flights[K, V]{running: make(map[K]*flight[V])}
}

// do returns what work returns, whoever of those with the same key started it. The
// context of work has the values of the first caller's, and ends when nobody waits for
// it any more.
func (fs *flights[K, V]) do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	f := fs.board(ctx, key, work)
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		fs.leave(key, f)
		var none V
		return none, ctx.Err()
	}
}

func (fs *flights[K, V]) board(ctx context.Context, key K, work func(context.Context) (V, error)) *flight[V] {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.running[key]; ok {
		f.callers++
		return f
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight[V]{done: make(chan struct{}), stop: stop, callers: 1}
	fs.running[key] = f
	go func() {
		defer stop()
		f.value, f.err = work(ctx)
		fs.land(key, f)
		close(f.done)
	}()
	return f
}

// land makes later callers start anew.
func (fs *flights[K, V]) land(key K, f *flight[V]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.running[key] == f {
		delete(fs.running, key)
	}
}

func (fs *flights[K, V]) leave(key K, f *flight[V]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.callers--; f.callers > 0 {
		return
	}
	f.stop()
	// Nobody may join a flight that has been called off.
	if fs.running[key] == f {
		delete(fs.running, key)
	}
}

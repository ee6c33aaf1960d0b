package csv

import (
	"context"
	"sync"
)

// lifetime lets calls in until it ends, and ends when those inside have left.
type lifetime struct {
	ctx    context.Context // ends when the lifetime is about to
	cancel context.CancelFunc

	mu     sync.Mutex
	ended  bool
	inside sync.WaitGroup
}

func newLifetime() *lifetime {
	l := &lifetime{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

func (l *lifetime) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return errClosed()
	}
	l.inside.Add(1)
	return nil
}

// stay is enter for the continuation of a call that is inside.
func (l *lifetime) stay() { l.inside.Add(1) }

func (l *lifetime) leave() { l.inside.Done() }

// end returns false if somebody ended it before.
func (l *lifetime) end() bool {
	l.mu.Lock()
	first := !l.ended
	l.ended = true
	l.mu.Unlock()
	l.cancel()
	l.inside.Wait()
	return first
}

// slots bounds how many do something at a time.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

func (s slots) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) release() { <-s }

package sqlitedb

import (
	"context"
	"sync"
)

// Freezer is a store whose writes can be made to wait.
type Freezer interface {
	// Freeze waits for writes that have begun, and has all others wait until thaw is called, which may be
	// more than once. Reads go on.
	Freeze(ctx context.Context) (thaw func(), err error)
}

// Freeze implements Freezer: the jobs behind it wait for their turn, until their callers leave.
func (w *Writer) Freeze(ctx context.Context) (thaw func(), err error) {
	frozen, over, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	thaw = sync.OnceFunc(func() { close(over) })
	go func() {
		ended <- w.Submit(ctx, Job{Alone: true, Run: func(*Tx) error {
			close(frozen)
			<-over
			return nil
		}})
	}()
	select {
	case <-frozen:
		return thaw, nil
	case err := <-ended:
		return nil, err
	}
}

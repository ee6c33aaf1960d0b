package stateengine

import (
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/fault"
)

// Gate lets calls in until a store closes, and lets that wait for those that are in. The zero
// Gate is open.
type Gate struct {
	mu      sync.RWMutex // held for reading by every call, for writing by what closes the store
	closing atomic.Bool
}

// Enter lets a call in, unless the store is closed. The caller must leave.
func (g *Gate) Enter() error {
	if g.closing.Load() {
		return errClosed()
	}
	g.mu.RLock()
	if g.closing.Load() { // the store closed first, and is waiting for us or done
		g.mu.RUnlock()
		return errClosed()
	}
	return nil
}

// Leave is the end of a call.
func (g *Gate) Leave() { g.mu.RUnlock() }

// Shut lets nobody in any more. It reports whether it did, and not somebody else before.
func (g *Gate) Shut() bool { return !g.closing.Swap(true) }

// Wait returns when nobody is in.
func (g *Gate) Wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

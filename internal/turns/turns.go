// Package turns shares a few places, such as database readers, among organizations: who
// asks for many waits for itself, and nobody else waits for longer than a few short uses.
package turns

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fair"
)

const (
	// patience is how long a caller waits for a place before it is told to come back.
	patience = 30 * time.Second
	// retryAfter is what it is told to wait then.
	retryAfter = time.Second
)

// Turns is a number of places, of which an organization holds only some at once. Places
// that become free go to the organizations that wait, one after the other, whatever each
// of them has waiting. It is safe for concurrent use.
type Turns struct {
	each int // places that one organization may hold

	mu      sync.Mutex
	free    int
	held    map[uuid.UUID]int // without zeros
	waiting fair.Queue[waiter]
}

// waiter is closed when it has a place.
type waiter chan struct{}

// New returns so many places, of which an organization may hold each at once. Both are
// above zero; with each below places, a place stays for the others whatever one asks for.
func New(places, each int) *Turns {
	return &Turns{each: each, free: places, held: map[uuid.UUID]int{}}
}

// Acquire waits for a place. The caller calls release, once or more often, when it has no
// more use for it. Errors: ctx's own, and fault.Overloaded after 30 seconds.
func (t *Turns) Acquire(ctx context.Context, org uuid.UUID) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	place := t.join(org)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-place.Value:
		return sync.OnceFunc(func() { t.release(org) }), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit.C:
		err = errOverloaded()
	}
	t.abandon(place)
	return nil, err
}

// TryAcquire acquires a place if there is one for the organization now, and nobody waits for it.
// The caller calls release, once or more often, when it has no more use for it.
func (t *Turns) TryAcquire(org uuid.UUID) (release func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free == 0 || t.held[org] >= t.each {
		return nil, false
	}
	t.free--
	t.held[org]++
	return sync.OnceFunc(func() { t.release(org) }), true
}

// join puts a waiter into its organization's queue. Its turn may come at once.
func (t *Turns) join(org uuid.UUID) *fair.Place[waiter] {
	t.mu.Lock()
	defer t.mu.Unlock()
	place := t.waiting.Join(org, make(waiter))
	t.serve()
	return place
}

func (t *Turns) release(org uuid.UUID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveBack(org)
}

func (t *Turns) giveBack(org uuid.UUID) {
	t.free++
	if t.held[org]--; t.held[org] == 0 {
		delete(t.held, org)
	}
	t.serve()
}

// abandon takes a waiter out of its queue, or gives its place back if it got one meanwhile.
func (t *Turns) abandon(place *fair.Place[waiter]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.waiting.Leave(place) {
		t.giveBack(place.Org())
	}
}

// serve gives free places to those that wait and may have one.
func (t *Turns) serve() {
	for t.free > 0 {
		next := t.waiting.Next(func(p *fair.Place[waiter]) bool { return t.held[p.Org()] < t.each })
		if next == nil {
			return
		}
		t.free--
		t.held[next.Org()]++
		close(next.Value)
	}
}

func errOverloaded() error {
	f := fault.New(fault.Overloaded, "too many requests of this kind are being worked on; nothing was done")
	f.RetryAfter = retryAfter
	return f
}

// Package turns shares a few places, such as database readers, among organizations: who
// asks for many waits for itself, and nobody else waits for longer than a few short uses.
package turns

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
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
	held    map[uuid.UUID]int        // without zeros
	waiting map[uuid.UUID]*list.List // of *waiter, without empty ones
	order   list.List                // of uuid.UUID: those that wait, the next one in front
}

type waiter struct {
	turn  chan struct{} // closed when it has a place
	place *list.Element // in its organization's queue
}

// New returns so many places, of which an organization may hold each at once. Both are
// above zero; with each below places, a place stays for the others whatever one asks for.
func New(places, each int) *Turns {
	return &Turns{each: each, free: places, held: map[uuid.UUID]int{}, waiting: map[uuid.UUID]*list.List{}}
}

// Acquire waits for a place. The caller calls release, once or more often, when it has no
// more use for it. Errors: ctx's own, and fault.Overloaded after 30 seconds.
func (t *Turns) Acquire(ctx context.Context, org uuid.UUID) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := t.join(org)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-w.turn:
		return sync.OnceFunc(func() { t.release(org) }), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit.C:
		err = errOverloaded()
	}
	t.abandon(org, w)
	return nil, err
}

// join puts a waiter into its organization's queue. Its turn may come at once.
func (t *Turns) join(org uuid.UUID) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.waiting[org]
	if queue == nil {
		queue = list.New()
		t.waiting[org] = queue
		t.order.PushBack(org)
	}
	w := &waiter{turn: make(chan struct{})}
	w.place = queue.PushBack(w)
	t.serve()
	return w
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
func (t *Turns) abandon(org uuid.UUID, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.turn:
		t.giveBack(org)
	default:
		t.leave(org, w)
	}
}

func (t *Turns) leave(org uuid.UUID, w *waiter) {
	queue := t.waiting[org]
	if queue.Remove(w.place); queue.Len() > 0 {
		return
	}
	delete(t.waiting, org)
	for e := t.order.Front(); e != nil; e = e.Next() {
		if e.Value == org {
			t.order.Remove(e)
			return
		}
	}
}

// serve gives free places to those that wait and may have one.
func (t *Turns) serve() {
	for t.free > 0 {
		next := t.next()
		if next == nil {
			return
		}
		org := next.Value.(uuid.UUID)
		w := t.waiting[org].Front().Value.(*waiter)
		t.order.MoveToBack(next) // everybody else comes first now
		t.leave(org, w)
		t.free--
		t.held[org]++
		close(w.turn)
	}
}

// next returns the first organization that may have one more place; nil if none may.
func (t *Turns) next() *list.Element {
	for e := t.order.Front(); e != nil; e = e.Next() {
		if t.held[e.Value.(uuid.UUID)] < t.each {
			return e
		}
	}
	return nil
}

func errOverloaded() error {
	f := fault.New(fault.Overloaded, "too many requests of this kind are being worked on; nothing was done")
	f.RetryAfter = retryAfter
	return f
}

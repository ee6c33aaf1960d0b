package fair

import (
	"sync"

	"github.com/google/uuid"
)

// Inbox is a Queue that many goroutines put values into and one takes them out of.
//
// It has no bound, because it is meant for callers that wait until their value is worked
// on: there are never more values than callers, and a bound would make callers wait in
// front of the queue instead of in it, where nobody sees to the turns. A caller that gives
// up takes its value out.
type Inbox[T any] struct {
	some chan struct{} // has a token when something may have changed since Next has looked

	mu     sync.Mutex
	queue  Queue[T]
	length int
	closed bool
}

// NewInbox returns an empty Inbox.
func NewInbox[T any]() *Inbox[T] {
	return &Inbox[T]{some: make(chan struct{}, 1)}
}

// Join puts a value behind all others of its organization. It is false, and the value is
// not in the Inbox, after Close.
func (i *Inbox[T]) Join(org uuid.UUID, value T) (place *Place[T], ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, false
	}
	if i.length++; i.length == 1 {
		i.wake()
	}
	return i.queue.Join(org, value), true
}

// Leave takes a value out, if it is in the Inbox still, and reports whether it was. If not,
// Next or TryNext has returned it, or is about to.
func (i *Inbox[T]) Leave(p *Place[T]) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	left := i.queue.Leave(p)
	if left {
		i.length--
	}
	return left
}

// Next takes out the first value of the organization whose turn it is, and waits until
// there is one. It is false when the Inbox is closed and empty.
func (i *Inbox[T]) Next() (value T, ok bool) {
	for {
		value, ok, closed := i.next()
		if ok || closed {
			return value, ok
		}
		<-i.some
	}
}

// TryNext is Next for a caller that doesn't wait: it is false also when nothing is there.
func (i *Inbox[T]) TryNext() (value T, ok bool) {
	value, ok, _ = i.next()
	return value, ok
}

func (i *Inbox[T]) next() (value T, ok, closed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p := i.queue.Next(func(*Place[T]) bool { return true })
	if p == nil {
		return value, false, i.closed
	}
	i.length--
	return p.Value, true, i.closed
}

// Len returns how many values are in the Inbox.
func (i *Inbox[T]) Len() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.length
}

// Close lets no further value in. Those that are in the Inbox can be taken out still.
func (i *Inbox[T]) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.wake()
}

// wake has Next look again. A token that is there already does that as well.
func (i *Inbox[T]) wake() {
	select {
	case i.some <- struct{}{}:
	default:
	}
}

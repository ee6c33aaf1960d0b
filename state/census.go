package state

import (
	"container/list"
	"sync"
	"time"
)

// Totals are what a Store has of all organizations together.
type Totals struct {
	States int64 // that can be read
	Locks  int64 // that are held
	// Rewound are refused: the store has lost changes of them that were acknowledged.
	Rewound int64
	// Oldest is since when the lock is held that was granted before all others; zero for none.
	Oldest time.Time
}

// Census keeps what Totals says, so that to ask costs the same however much there is. An engine
// notes what each change of a transaction does to a head, and then settles or drops all of it.
// That is for one goroutine at a time; Totals is not.
type Census struct {
	noted []headcount

	mu     sync.Mutex
	states int64
	locks  map[Ref]*list.Element
	order  list.List // of times, in which locks were granted
}

// headcount is what one change does to the totals.
type headcount struct {
	ref             Ref
	states          int64
	released, taken bool
	since           time.Time // of the lock that is taken
}

// NewCensus returns one without states.
func NewCensus() *Census { return &Census{locks: map[Ref]*list.Element{}} }

// Begin counts states that there are. Locks follow with Note, the oldest first.
func (c *Census) Begin(states int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = states
}

// Note takes in that a state's head changes.
func (c *Census) Note(ref Ref, was, next Head) {
	n := headcount{ref: ref}
	if was.Exists() != next.Exists() {
		n.states = -1
		if next.Exists() {
			n.states = 1
		}
	}
	if !sameLock(was.Lock, next.Lock) {
		n.released, n.taken = was.Lock != nil, next.Lock != nil
		if n.taken {
			n.since = next.Lock.Since
		}
	}
	if n.states != 0 || n.released || n.taken {
		c.noted = append(c.noted, n)
	}
}

func sameLock(a, b *Lock) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Info.ID == b.Info.ID
}

// Settle counts what was noted.
func (c *Census) Settle() {
	if len(c.noted) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.noted {
		c.states += n.states
		if held := c.locks[n.ref]; n.released && held != nil {
			c.order.Remove(held)
			delete(c.locks, n.ref)
		}
		if n.taken {
			c.locks[n.ref] = c.order.PushBack(n.since)
		}
	}
	c.Drop()
}

// Drop forgets what was noted: it did not happen.
func (c *Census) Drop() {
	clear(c.noted)
	c.noted = c.noted[:0]
}

// Totals returns what was counted.
func (c *Census) Totals() Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := Totals{States: c.states, Locks: int64(c.order.Len())}
	if first := c.order.Front(); first != nil {
		t.Oldest = first.Value.(time.Time)
	}
	return t
}

package dual

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// lane is an organization's way through the store: one upload at a time, since both sides
// must see the same order.
type lane struct {
	org uuid.UUID
	// turn has one token. Who took it may use what follows.
	turn   chan struct{}
	last   time.Time // newest timestamp that was given away
	seeded bool      // last takes in what the sides had before

	// nudges wake who pays, before the wait is over.
	nudges [2]chan struct{}

	// deciding is held while a side's answer goes to the outbox and then to the queues, and while
	// the debts of a batch are entered.
	deciding sync.Mutex

	mu     sync.Mutex
	queues [2][]debt // by side, oldest first
	paying [2]bool   // a goroutine pays the queue
	owed   [2]tally  // what is in the queues
	dead   [2]tally  // dead letters, by the side that refuses them

	discarded [2]int64 // records of dead letters that were given up, likewise
}

// debt is a batch of the outbox that a side is owed.
type debt struct {
	seq     int64
	size    int64
	records int
}

func newLane(org uuid.UUID) *lane {
	l := &lane{org: org, turn: make(chan struct{}, 1)}
	for i := range l.nudges {
		l.nudges[i] = make(chan struct{}, 1)
	}
	l.turn <- struct{}{}
	return l
}

// lane returns the organization's, which lasts as long as the store.
func (s *Store) lane(org uuid.UUID) *lane {
	s.lanesMu.Lock()
	defer s.lanesMu.Unlock()
	l, ok := s.lanes[org]
	if !ok {
		l = newLane(org)
		s.lanes[org] = l
	}
	return l
}

// take waits for the lane's turn. The caller must give it back.
func (l *lane) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lane) give() { l.turn <- struct{}{} }

// owe enters a debt in its place, and reports whether it was not there.
func (l *lane) owe(n name, d debt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, found := slices.BinarySearchFunc(l.queues[n], d.seq, func(d debt, seq int64) int { return cmp.Compare(d.seq, seq) })
	if !found {
		l.queues[n] = slices.Insert(l.queues[n], i, d)
	}
	return !found
}

// owedBytes is about what a side is owed.
func (l *lane) owedBytes(n name) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owed[n].bytes
}

func (l *lane) owes(n name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queues[n]) > 0
}

// first returns the debt to pay next; false, and no longer paying, when there is none.
func (l *lane) first(n name) (debt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queues[n]) == 0 {
		l.queues[n], l.paying[n] = nil, false
		return debt{}, false
	}
	return l.queues[n][0], true
}

// strike takes a debt off, and reports whether it was there.
func (l *lane) strike(n name, seq int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.queues[n], func(d debt) bool { return d.seq == seq })
	if i < 0 {
		return false
	}
	switch i {
	case 0: // nearly always
		l.queues[n] = l.queues[n][1:]
	default:
		l.queues[n] = slices.Delete(l.queues[n], i, i+1)
	}
	return true
}

// nudge has both sides tried again soon, when somebody waits for them.
func (l *lane) nudge() {
	for _, c := range l.nudges {
		select {
		case c <- struct{}{}:
		default: // it is awake
		}
	}
}

// pay reports whether the caller is to pay the queue: nobody else does.
func (l *lane) pay(n name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paying[n] {
		return false
	}
	l.paying[n] = true
	return true
}

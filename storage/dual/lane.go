package dual

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// lane is an organization's way through the store: one upload at a time, since both sides must see the same order.
type lane struct {
	org uuid.UUID
	// turn has one token. Who took it may use what follows.
	turn   chan struct{}
	last   time.Time // newest timestamp that was given away
	seeded bool      // last takes in what the sides had before

	nudges [2]chan struct{} // wake who replays, before the wait is over

	mu        sync.Mutex
	queues    [2][]debt // by side, oldest first
	replaying [2]bool   // a goroutine pays the queue
	bytes     [2]int64  // of what is in the queues
}

// debt is a batch of the outbox that a side is owed.
type debt struct{ seq, size int64 }

// lane returns the organization's, which lasts as long as the store.
func (s *Store) lane(org uuid.UUID) *lane {
	s.lanesMu.Lock()
	defer s.lanesMu.Unlock()
	l, ok := s.lanes[org]
	if !ok {
		l = &lane{org: org, turn: make(chan struct{}, 1)}
		for i := range l.nudges {
			l.nudges[i] = make(chan struct{}, 1)
		}
		l.turn <- struct{}{}
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

// owe enters what a side is owed in its place, and reports whether the side was owed nothing before. It needs the
// lane's turn, or the store to itself.
func (s *Store) owe(d *side, l *lane, r row) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[d.name]
	i, _ := slices.BinarySearchFunc(queue, r.seq, func(d debt, seq int64) int { return cmp.Compare(d.seq, seq) })
	l.queues[d.name] = slices.Insert(queue, i, debt{r.seq, r.size})
	l.bytes[d.name] += r.size
	s.heldBytes.Add(r.size)
	return d.owed.Add(1) == 1
}

// cancel takes off what a side was owed.
func (s *Store) cancel(d *side, l *lane, owed debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queues[d.name], owed)
	if i < 0 {
		return // Shred was here
	}
	l.queues[d.name] = slices.Delete(l.queues[d.name], i, i+1)
	l.bytes[d.name] -= owed.size
	s.heldBytes.Add(-owed.size)
	if d.owed.Add(-1) == 0 {
		s.o.Log.Info("a side of the store has caught up", "side", d.label)
	}
}

// owedBytes is about what a side is owed.
func (l *lane) owedBytes(n name) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes[n]
}

// owing are the sides that are owed something, and wait for that.
func (l *lane) owing() (found names) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, queue := range l.queues {
		if len(queue) > 0 {
			found = found.with(name(n))
		}
	}
	return found
}

// next returns what to replay next; false, and no longer replaying, when there is nothing or the store closes.
func (l *lane) next(n name, stop context.Context) (debt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queues[n]) > 0 && stop.Err() == nil {
		return l.queues[n][0], true
	}
	if l.replaying[n] = false; len(l.queues[n]) == 0 {
		l.queues[n] = nil
	}
	return debt{}, false
}

// begin reports whether the caller is to replay the queue: there is something in it, and nobody else does.
func (l *lane) begin(n name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replaying[n] || len(l.queues[n]) == 0 {
		return false
	}
	l.replaying[n] = true
	return true
}

func (l *lane) isReplaying() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replaying[csv] || l.replaying[database]
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

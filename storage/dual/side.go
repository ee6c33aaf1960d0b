package dual

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// name is a side's.
type name int

const (
	csv name = iota
	mysql
)

func (n name) String() string { return [...]string{"csv", "mysql"}[n] }

// names is a set of sides, as the outbox keeps it.
type names uint8

const both names = 1<<csv | 1<<mysql

func (s names) has(n name) bool       { return s&(1<<n) != 0 }
func (s names) with(n name) names     { return s | 1<<n }
func (s names) without(t names) names { return s &^ t }

// side is one of the two stores.
type side struct {
	name  name
	store inventory.Store
	owed  atomic.Int64  // debts, of all organizations
	slots chan struct{} // bounds the replays that run at once
	probe chan struct{} // while the side is down, one at a time

	mu   sync.Mutex
	down bool
	up   chan struct{} // closed when the side is no longer down
}

func newSide(n name, store inventory.Store) *side {
	return &side{name: n, store: store, slots: make(chan struct{}, 4), probe: make(chan struct{}, 1), up: make(chan struct{})}
}

func (s *Store) other(d *side) *side { return s.sides[1-d.name] }

// isDown says whether the side has failed since it last worked. Then uploads don't wait
// for it, but leave it to the replays to find out when it is back.
func (d *side) isDown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.down
}

// recovered returns a channel that is closed when the side has come back.
func (d *side) recovered() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up
}

// learn takes in how a call ended. It reports whether that changed something.
func (d *side) learn(o outcome) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.down
	switch o.kind() {
	case recorded:
		if d.down = false; before {
			close(d.up)
			d.up = make(chan struct{})
		}
	case unknown:
		d.down = true
	}
	return d.down != before
}

// outcome is a side's answer to an Append.
type outcome struct {
	receipt inventory.Receipt
	err     error
}

// kind is what an outcome says about the batch.
type kind int

const (
	recorded kind = iota // it is there
	refused              // it is the caller's mistake; nothing was recorded
	rejected             // the side can't take it; nothing was recorded
	unknown              // the side is in trouble; it may be there
)

func (o outcome) kind() kind {
	if o.err == nil {
		return recorded
	}
	f, ok := errors.AsType[*fault.Error](o.err)
	switch {
	case !ok || f.Code == fault.StoreUnavailable || f.Code == fault.Interrupted || f.Code == fault.InternalError:
		return unknown
	case f.Code.Kind() == fault.Invalid || f.Code.Kind() == fault.Unprocessable || f.Code.Kind() == fault.TooLarge:
		return refused
	}
	return rejected
}

// send appends the batch on a side, and waits no longer than it may. A call that takes
// longer goes on by itself: what it records later is the batch that will be sent again.
func (s *Store) send(parent context.Context, d *side, batch inventory.Batch) outcome {
	ctx, cancel := context.WithTimeout(parent, s.o.SideTimeout)
	answer := make(chan outcome, 1)
	s.calls.Go(func() {
		defer cancel()
		receipt, err := d.store.Append(ctx, batch)
		answer <- outcome{receipt, err}
	})
	var o outcome
	select {
	case o = <-answer:
	case <-ctx.Done():
		o = lastWord(answer, ctx.Err())
	}
	// A call that this store has given up says nothing about the side.
	if parent.Err() == nil && d.learn(o) {
		s.logTurn(d, o)
	}
	return o
}

// lastWord gives a side that heeds its context the chance to say so.
func lastWord(answer <-chan outcome, err error) outcome {
	select {
	case o := <-answer:
		return o
	case <-time.After(50 * time.Millisecond):
		return outcome{err: fault.Wrap(err, fault.StoreUnavailable, "the side does not answer")}
	}
}

func (s *Store) logTurn(d *side, o outcome) {
	if o.err != nil {
		s.o.Log.Warn("a side of the store fails; what it misses is kept for it", "side", d.name.String(), "error", o.err)
		return
	}
	s.o.Log.Info("a side of the store works again", "side", d.name.String(), "owed", d.owed.Load())
}

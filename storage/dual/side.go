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

// slowFailure is how long a failure may take before uploads are spared it. A side that
// refuses connections costs nothing; one that hangs would cost each organization's next
// upload the full time limit.
const slowFailure = 100 * time.Millisecond

// side is one of the two stores.
type side struct {
	name  name
	store inventory.Store
	owed  atomic.Int64  // debts, of all organizations
	dead  atomic.Int64  // dead letters, of all organizations
	slots chan struct{} // bounds the replays that run at once
	probe chan struct{} // while the side is slow to fail, one at a time
	limit time.Duration // a failure that takes longer is a slow one

	mu      sync.Mutex
	failing bool          // since it last recorded something
	slow    bool          // and it took its time to fail
	up      chan struct{} // closed when the side no longer fails
}

func newSide(n name, store inventory.Store, timeout time.Duration) *side {
	return &side{name: n, store: store, limit: min(slowFailure, timeout), slots: make(chan struct{}, 4), probe: make(chan struct{}, 1), up: make(chan struct{})}
}

func (s *Store) other(d *side) *side { return s.sides[1-d.name] }

// isSlow says whether the side has last failed in a way that cost time. Then uploads
// don't wait for it, but leave it to the replays to find out when it is back.
func (d *side) isSlow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slow
}

// recovered returns a channel that is closed when the side has come back.
func (d *side) recovered() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up
}

// learn takes in how a call ended, and how long it took.
func (d *side) learn(o outcome, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch o.kind() {
	case recorded:
		if d.failing {
			close(d.up)
			d.up = make(chan struct{})
		}
		d.failing, d.slow = false, false
	case unknown:
		d.failing, d.slow = true, took >= d.limit
	}
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
	batch.New = false
	ctx, cancel := context.WithTimeout(parent, s.o.SideTimeout)
	answer, began := make(chan outcome, 1), time.Now()
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
	if parent.Err() == nil { // a call that was given up says nothing about the side
		d.learn(o, time.Since(began))
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

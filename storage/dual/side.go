package dual

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

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
	latest  entry         // what it last recorded
	before  entry         // and what it last recorded of another organization than that
}

func newSide(n name, store inventory.Store, timeout time.Duration) *side {
	return &side{name: n, store: store, limit: min(slowFailure, timeout), slots: make(chan struct{}, 4),
		probe: make(chan struct{}, 1), up: make(chan struct{})}
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

// entry says when a side recorded something, in order, and of which organization.
type entry struct {
	org  uuid.UUID
	turn int64
}

// note takes in that the side has recorded something new.
func (d *side) note(org uuid.UUID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.latest.org != org {
		d.before = d.latest
	}
	d.latest = entry{org, d.latest.turn + 1}
}

// turns returns when the side last recorded something, and when it did so of another
// organization than this one.
func (d *side) turns(org uuid.UUID) (any, others int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.latest.org == org {
		return d.latest.turn, d.before.turn
	}
	return d.latest.turn, d.latest.turn
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

// isNew reports whether the side has recorded the batch just now.
func (o outcome) isNew() bool { return o.kind() == recorded && !o.receipt.Replayed }

// send appends batches on a side, and waits no longer than it may. A call that takes longer
// goes on by itself: what it records later are the batches that will be sent again.
func (s *Store) send(parent context.Context, d *side, batches ...inventory.Batch) []outcome {
	batches = slices.Clone(batches)
	for i := range batches {
		batches[i].New = false
	}
	ctx, cancel := context.WithTimeout(parent, s.o.SideTimeout)
	answer, began := make(chan []outcome, 1), time.Now()
	s.calls.Go(func() {
		defer cancel()
		answer <- d.append(ctx, batches)
	})
	var all []outcome
	select {
	case all = <-answer:
	case <-ctx.Done():
		all = lastWord(answer, len(batches), ctx.Err())
	}
	if parent.Err() == nil { // a call that was given up says nothing about the side
		d.learn(all[len(all)-1], time.Since(began))
	}
	if slices.ContainsFunc(all, outcome.isNew) {
		d.note(batches[0].Org)
	}
	return all
}

// append returns what became of each batch.
func (d *side) append(ctx context.Context, batches []inventory.Batch) []outcome {
	if len(batches) == 1 {
		receipt, err := d.store.Append(ctx, batches[0])
		return []outcome{{receipt, err}}
	}
	receipts, err := d.store.AppendAll(ctx, batches)
	all := make([]outcome, len(batches))
	for i := range all {
		switch {
		case i < len(receipts):
			all[i].receipt = receipts[i]
		case i == len(receipts) || (outcome{err: err}).kind() == unknown:
			all[i].err = err
		default:
			// It was not looked at, so nothing is said about it but that it is not recorded.
			all[i].err = fault.Wrap(err, fault.Busy, "the batch comes behind one that the side does not take")
		}
	}
	return all
}

// lastWord gives a side that heeds its context the chance to say so.
func lastWord(answer <-chan []outcome, batches int, err error) []outcome {
	select {
	case all := <-answer:
		return all
	case <-time.After(50 * time.Millisecond):
		hung := outcome{err: fault.Wrap(err, fault.StoreUnavailable, "the side does not answer")}
		return slices.Repeat([]outcome{hung}, batches)
	}
}

package dual

import (
	"context"
	"errors"
	"slices"
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
	database
)

// String is for tests; people know a side by its label.
func (n name) String() string { return [...]string{"csv", "database"}[n] }

// names is a set of sides, as the outbox keeps it.
type names uint8

const both names = 1<<csv | 1<<database

func (s names) has(n name) bool       { return s&(1<<n) != 0 }
func (s names) with(n name) names     { return s | 1<<n }
func (s names) without(t names) names { return s &^ t }

// side is one of the two stores.
type side struct {
	name    name
	label   string // by which people know it: csv, mysql or postgres
	store   inventory.Store
	owed    atomic.Int64  // batches, of all organizations
	refused atomic.Int64  // batches that it has refused for good, since the start
	slots   chan struct{} // bounds the replays that run at once

	mu      sync.Mutex
	failing bool          // since it last recorded something
	up      chan struct{} // closed when it no longer fails
}

func newSide(n name, label string, store inventory.Store) *side {
	return &side{name: n, label: label, store: store, slots: make(chan struct{}, 4), up: make(chan struct{})}
}

// recovered returns a channel that is closed when the side has come back.
func (d *side) recovered() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up
}

// learn takes in how a call ended.
func (d *side) learn(o outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch o.kind() {
	case recorded:
		if d.failing {
			close(d.up)
			d.up = make(chan struct{})
		}
		d.failing = false
	case unknown:
		d.failing = true
	}
}

// outcome is a side's answer to an Append. The zero one is of a side that was not sent the batch.
type outcome struct {
	sent    bool
	receipt inventory.Receipt
	err     error
}

// kind is what an outcome says about the batch.
type kind int

const (
	unsent   kind = iota
	recorded      // it is there
	refused       // the side will never take it; nothing was recorded
	rejected      // the side can't take it now; nothing was recorded
	unknown       // the side is in trouble; it may be there
)

func (o outcome) kind() kind {
	switch {
	case !o.sent:
		return unsent
	case o.err == nil:
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

// those returns the sides whose outcome is of this kind.
func those(all [2]outcome, k kind) (found names) {
	for n, o := range all {
		if o.kind() == k {
			found = found.with(name(n))
		}
	}
	return found
}

// sendAll sends batches to sides at once, and returns what became of each. Nobody's end matters any more.
func (s *Store) sendAll(to names, batches []inventory.Batch) [][2]outcome {
	all := make([][2]outcome, len(batches))
	var wg sync.WaitGroup
	for _, d := range s.sides {
		if !to.has(d.name) {
			continue
		}
		wg.Go(func() {
			for i, o := range s.send(context.Background(), d, batches...) {
				all[i][d.name] = o
			}
		})
	}
	wg.Wait()
	return all
}

// send appends batches on a side, and waits no longer than it may. A call that takes longer goes on by itself: what it
// records later are the batches that will be sent again.
func (s *Store) send(parent context.Context, d *side, batches ...inventory.Batch) []outcome {
	batches = slices.Clone(batches)
	for i := range batches {
		batches[i].New = false
	}
	ctx, cancel := context.WithTimeout(parent, s.o.SideTimeout)
	answer := make(chan []outcome, 1)
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
		d.learn(all[len(all)-1])
	}
	return all
}

// append returns what became of each batch.
func (d *side) append(ctx context.Context, batches []inventory.Batch) []outcome {
	if len(batches) == 1 {
		receipt, err := d.store.Append(ctx, batches[0])
		return []outcome{{true, receipt, err}}
	}
	receipts, err := d.store.AppendAll(ctx, batches)
	all := make([]outcome, len(batches))
	for i := range all {
		all[i].sent = true
		switch {
		case i < len(receipts):
			all[i].receipt = receipts[i]
		case i == len(receipts) || (outcome{sent: true, err: err}).kind() == unknown:
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
		hung := outcome{sent: true, err: fault.Wrap(err, fault.StoreUnavailable, "the side does not answer")}
		return slices.Repeat([]outcome{hung}, batches)
	}
}

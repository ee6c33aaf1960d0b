// Package notify tells organizations, at an address of their own, what happened to their
// states that a person should look at: findings of guards, writes that were held, locks
// that were taken over or forced open, and that they have most of what they may have stored.
//
// It follows the audit log from wherever that ends when it starts, and keeps no position:
// what happens while the server is down is in the audit log only. A notice is tried several
// times and then dropped, with a line in the log; nothing waits for it.
package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Source is the audit log of all organizations. state.Store is one.
type Source interface {
	Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error)
}

// Addresses says where an organization's notices go. *auth.Verifier is one.
type Addresses interface {
	// NotifyURL returns an address, which may be a secret; empty for nowhere.
	NotifyURL(org uuid.UUID) string
}

// Follower turns events into notices.
type Follower struct {
	source    Source
	addresses Addresses
	sender    *sender
	queues    map[uuid.UUID]chan audit.Event // used by Follow alone
	log       *slog.Logger
	last      uint64 // the event that was read last
	begun     bool   // last is known
}

const (
	page = 200 // events that are read at once
	// waiting is how many notices of one organization may wait for one that is on its way.
	waiting = 100
)

// New returns a follower that has not begun.
func New(source Source, addresses Addresses, log *slog.Logger) *Follower {
	return &Follower{
		source: source, addresses: addresses, log: log,
		sender: newSender(addresses, log), queues: make(map[uuid.UUID]chan audit.Event),
	}
}

// Follow sends notices until ctx ends, and returns when the last one was given up. It looks
// for events at once and then at each tick.
func (f *Follower) Follow(ctx context.Context, ticks <-chan time.Time) {
	defer f.sender.wait()
	for {
		if err := f.step(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "the audit log can't be followed for notices; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// Begin finds where the audit log ends: what comes after is told. Follow does it too, but
// only when it runs.
func (f *Follower) Begin(ctx context.Context) (err error) {
	f.last, err = end(ctx, f.source)
	f.begun = err == nil
	return err
}

// step reads what is new.
func (f *Follower) step(ctx context.Context) error {
	if !f.begun {
		return f.Begin(ctx)
	}
	for {
		events, err := f.source.Feed(ctx, f.last, page)
		if err != nil {
			return err
		}
		for _, event := range events {
			f.last = event.Sequence
			if notable(event) && f.addresses.NotifyURL(event.Org) != "" {
				f.enqueue(ctx, event)
			}
		}
		if len(events) < page {
			return nil
		}
	}
}

// notable reports whether somebody should be told. A rollback and a promotion are no news:
// somebody gave a reason for them.
func notable(e audit.Event) bool {
	switch e.Action {
	case audit.CandidateHold, audit.LockTakeOver, audit.LockForce, audit.QuotaNear:
		return true
	case audit.StateWrite:
		return e.Note != ""
	}
	return false
}

// enqueue hands an event to its organization's own worker, so that one address that does
// not answer holds up nobody else's notices.
func (f *Follower) enqueue(ctx context.Context, event audit.Event) {
	queue, ok := f.queues[event.Org]
	if !ok {
		queue = make(chan audit.Event, waiting)
		f.queues[event.Org] = queue
		f.sender.work(ctx, queue)
	}
	select {
	case queue <- event:
	default:
		f.log.WarnContext(ctx, "a notice was dropped: too many wait", "org", event.Org.String(), "action", string(event.Action), "sequence", event.Sequence)
	}
}

// end returns the Sequence of the newest event, which the source does not tell: it is found
// by asking whether there are any above a number, some twice as often as that has digits.
func end(ctx context.Context, source Source) (uint64, error) {
	above := func(n uint64) (bool, error) {
		events, err := source.Feed(ctx, n, 1)
		return len(events) > 0, err
	}
	low, high := uint64(0), uint64(0) // there are events above low, unless it is 0
	for {
		more, err := above(high)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		low, high = high, high*2+1
	}
	for high > low+1 {
		middle := low + (high-low)/2
		more, err := above(middle)
		if err != nil {
			return 0, err
		}
		if more {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}

// Package webhook tells organizations, at an address of their own, what happened to their
// states that a person should look at: findings of guards, writes that were held, locks
// that were taken over or forced open, and that they have most of what they may have stored.
//
// It follows the audit log from wherever that ends when it starts, and keeps no position:
// what happens while the server is down is in the audit log only. A notice is tried several
// times and then dropped, with a line in the log and an event in the audit log; nothing waits
// for it. What a [Notifier] costs grows with the notices that wait, not with the number of
// organizations.
package webhook

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Source is the audit log of all organizations. state.Store is one.
type Source interface {
	Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error)
	Record(ctx context.Context, event audit.Event) error
}

// Addresses says where an organization's notices go. *authfile.Watcher is one.
type Addresses interface {
	// NotifyURL returns an address, which may be a secret; empty for nowhere.
	NotifyURL(org uuid.UUID) string
}

// Notifier turns events into notices. Follow alone uses what is in it, but for what Dropped counts.
type Notifier struct {
	source    Source
	addresses Addresses
	sender    *sender
	log       *slog.Logger
	last      uint64 // the event that was read last
	begun     bool   // last is known
	dropped   atomic.Uint64

	backlog *backlog
	ended   chan attempt // has room for all that may be under way
}

// page is how many events are read at once.
const page = 200

// New returns a follower that has not begun.
func New(source Source, addresses Addresses, log *slog.Logger) *Notifier {
	return &Notifier{
		source: source, addresses: addresses, log: log,
		sender: newSender(addresses), backlog: newBacklog(), ended: make(chan attempt, posting),
	}
}

// Follow sends notices until ctx ends. It looks for events at once and then at each tick.
// When ctx ends it looks a last time, gives what waits one more try for as long as grace says
// then, and returns when each notice was delivered or is recorded as one that was not.
func (f *Notifier) Follow(ctx context.Context, ticks <-chan time.Time, grace func() time.Duration) {
	trying, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	timer := time.NewTimer(0)
	defer timer.Stop()
	f.read(ctx)
	for ctx.Err() == nil {
		timer.Reset(f.start(trying, false))
		select {
		case <-ctx.Done():
		case <-ticks:
			f.read(ctx)
		case a := <-f.ended:
			f.end(a)
		case <-timer.C:
		}
	}
	over := time.AfterFunc(grace(), giveUp)
	defer over.Stop()
	f.read(trying)
	f.recordAll(context.WithoutCancel(ctx), f.finish(trying))
}

// read is step with a line in the log for its error.
func (f *Notifier) read(ctx context.Context) {
	if err := f.step(ctx); err != nil && ctx.Err() == nil {
		f.log.WarnContext(ctx, "the audit log can't be followed for notices; trying again", "error", err)
	}
}

// Begin finds where the audit log ends: what comes after is told. Follow does it too, but
// only when it runs.
func (f *Notifier) Begin(ctx context.Context) (err error) {
	f.last, err = endOf(ctx, f.source)
	f.begun = err == nil
	return err
}

// step reads what is new.
func (f *Notifier) step(ctx context.Context) error {
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
				f.backlog.add(event)
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
	case audit.CandidateHold, audit.CandidateFence, audit.LockTakeOver, audit.LockForce, audit.QuotaNear,
		audit.RunWait, audit.RunFail, audit.RunOrphan, audit.RunStale:
		return true
	case audit.StateWrite:
		return e.Note != ""
	}
	return false
}

// endOf returns the Sequence of the newest event, which the source does not tell: it is found
// by asking whether there are any above a number, some twice as often as that has digits.
func endOf(ctx context.Context, source Source) (uint64, error) {
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

package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/audit"
)

// attempt is one try of the first notice of an organization, and how it ended.
type attempt struct {
	of    *pending
	event *audit.Event // nil if there are only lost ones, to be recorded
	last  bool         // nothing comes after it
	lost  lost         // recorded with it

	done bool // delivered or given up
	err  error
}

// start begins all the tries that may begin now. It returns when to ask again if nothing
// happens until then. Those of a follower that is stopping are the last ones.
func (f *Notifier) start(ctx context.Context, last bool) time.Duration {
	for {
		now := time.Now()
		l, wait := f.backlog.begin(now)
		if l == nil {
			if wait == 0 {
				wait = time.Hour
			}
			return wait
		}
		a := attempt{of: l, lost: l.lost}
		l.lost = lost{}
		if len(l.events) > 0 {
			event := l.events[0]
			if a.event = &event; l.tried == 0 {
				l.began = now
			}
			l.tried++
			a.last = last || l.last(now)
		}
		go func() { f.ended <- f.attempt(ctx, a) }()
	}
}

// attempt tries to deliver a notice, and records what is given up with it.
func (f *Notifier) attempt(ctx context.Context, a attempt) attempt {
	recording := context.WithoutCancel(ctx)
	if a.event != nil {
		a.err = f.sender.try(ctx, *a.event)
		if a.done = a.err == nil; !a.done && ctx.Err() == nil && (a.last || permanent(a.err)) {
			a.done = true
			f.record(recording, lostOne(*a.event, a.err))
		}
	}
	if a.lost.count > 0 {
		f.record(recording, a.lost)
	}
	return a
}

// end notes how a try ended, and when the next one is due.
func (f *Notifier) end(a attempt) {
	l := a.of
	if a.event != nil && !a.done {
		if l.pauses == nil {
			l.pauses = f.sender.pauses()
		}
		l.next = time.Now().Add(l.pauses.NextBackOff())
	}
	f.backlog.end(l, a.done && a.event != nil, a.err != nil)
}

// finish gives each notice that waits one more try until ctx ends, and returns those that
// were lost. An address that fails now is not tried for others.
func (f *Notifier) finish(ctx context.Context) (all []lost) {
	for _, l := range f.backlog.order {
		l.next = time.Time{}
	}
	for len(f.backlog.order) > 0 {
		if ctx.Err() == nil {
			f.start(ctx, true)
		}
		if f.backlog.posting > 0 {
			a := <-f.ended
			f.end(a)
			if a.err != nil {
				all = append(all, f.backlog.giveUp(a.of)...)
			}
			continue
		}
		for _, l := range slices.Clone(f.backlog.order) {
			all = append(all, f.backlog.giveUp(l)...)
		}
	}
	return all
}

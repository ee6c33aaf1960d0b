package webhook

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/audit"
)

// attempt is one try of the first notice of an organization, and how it ended.
type attempt struct {
	of    *pending
	event *audit.Event // nil if there are only lost ones, to be recorded
	last  bool         // the notice is too old to be tried again
	lost  lost         // recorded with it

	done bool // delivered or given up
	err  error
}

// start begins all the tries that may begin now. It returns when to ask again if nothing
// happens until then.
func (f *Notifier) start(ctx context.Context) time.Duration {
	for !f.resting {
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
		if len(l.events) > 0 && !now.Before(l.next) {
			event := l.events[0]
			a.event, a.last = &event, l.last(now)
			l.tried++
		}
		go func() { f.ended <- f.attempt(ctx, a) }()
	}
	return time.Hour // or until it is this node's turn
}

// attempt tries to deliver a notice, and records what is given up with it. The outbox has a
// notice until its receiver has it, or the audit log says that it was dropped.
func (f *Notifier) attempt(ctx context.Context, a attempt) attempt {
	recording := context.WithoutCancel(ctx)
	if a.event != nil {
		a.err = f.sender.try(ctx, *a.event)
		switch {
		case a.err == nil:
			f.counts.delivered.Add(1)
			a.done = true
		case ctx.Err() != nil: // the server stops
		default:
			f.counts.failed.Add(1)
			if a.done = a.last || permanent(a.err); a.done {
				f.record(recording, lostOne(*a.event, a.err))
			}
		}
	}
	if a.done {
		f.remove(recording, *a.event)
	}
	if a.lost.count > 0 {
		f.record(recording, a.lost)
	}
	return a
}

// remove takes a notice out of the outbox. What can't be taken out is sent again by the next start.
func (f *Notifier) remove(ctx context.Context, e audit.Event) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if err := f.outbox.Remove(ctx, e); err != nil {
		f.log.WarnContext(ctx, "a notice stays in the outbox after it was told; the next start tells it again", "org",
			e.Org.String(), "sequence", e.Sequence, "error", err)
	}
}

// end notes how a try ended, and when the next one is due.
func (f *Notifier) end(a attempt) {
	l := a.of
	if a.event != nil && !a.done {
		if l.pauses == nil {
			l.pauses = f.sender.pauses()
		}
		l.next = time.Now().Add(l.pauses.NextBackOff())
		if l.tried >= inARow {
			l.behind()
		}
	}
	f.backlog.end(l, a.event != nil, a.done && a.event != nil, a.err != nil)
	f.shredNow(l)
}

// finish gives each notice that waits one more try until ctx ends. A receiver that fails now is
// not tried for others. What is left is in the outbox.
func (f *Notifier) finish(ctx context.Context) {
	for _, l := range f.backlog.order {
		l.next = time.Time{}
	}
	for {
		if ctx.Err() == nil {
			f.start(ctx)
		}
		if f.backlog.posting == 0 {
			break
		}
		a := <-f.ended
		a.of.left = a.of.left || a.err != nil
		f.end(a)
	}
	for _, l := range f.backlog.order {
		if l.lost.count > 0 { // there was no time for it
			f.record(context.WithoutCancel(ctx), l.lost)
		}
	}
}

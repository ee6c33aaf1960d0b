package webhook

import (
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// The bounds of what waits and of what is on its way.
const (
	// waiting is how many notices of one organization may wait.
	waiting = 100
	// waitingInAll is how many notices may wait together. Beyond it, an organization may have
	// no more than waitingThen.
	waitingInAll = 10_000
	waitingThen  = 10
	// posting is how many notices are on their way at once, one of each organization. Of
	// these, retrying may be to addresses that did not answer well the last time.
	posting  = 32
	retrying = 16
)

// pending is what waits for one organization's address. It is there only while something does.
type pending struct {
	org     uuid.UUID
	events  []audit.Event // the oldest first
	busy    bool          // the first is on its way
	failing bool          // the last try did not end well
	lost    lost          // what there was no room for, not recorded yet

	// Of the first:
	tried  int
	began  time.Time       // when it was tried first
	next   time.Time       // it is not tried before
	pauses backoff.BackOff // nil before the first try
}

// last reports whether there is to be no other try.
func (l *pending) last(now time.Time) bool {
	return l.tried >= tries || now.Sub(l.began) >= tryUntil
}

// shift goes on to the next notice.
func (l *pending) shift() {
	l.events = slices.Delete(l.events, 0, 1)
	l.tried, l.next, l.pauses = 0, time.Time{}, nil
}

// backlog is all that waits. It is not safe for concurrent use.
type backlog struct {
	waitingFor map[uuid.UUID]*pending
	order      []*pending // who is next
	total      int        // events of all of them
	posting    int        // organizations whose first notice is on its way
	retrying   int        // of these, those that were failing
}

func newBacklog() *backlog { return &backlog{waitingFor: map[uuid.UUID]*pending{}} }

// add takes an event in, or counts it as lost.
func (b *backlog) add(e audit.Event) {
	l := b.waitingFor[e.Org]
	if l == nil {
		l = &pending{org: e.Org}
		b.waitingFor[e.Org] = l
		b.order = append(b.order, l)
	}
	if n := len(l.events); n >= waiting || b.total >= waitingInAll && n >= waitingThen {
		l.lost = l.lost.and(e, tooMany)
		return
	}
	l.events = append(l.events, e)
	b.total++
}

// begin returns a queue whose first notice may be tried now, and counts it as busy; nil if
// there is none. wait is when to ask again, zero for after the next change.
func (b *backlog) begin(now time.Time) (l *pending, wait time.Duration) {
	for i, l := range b.order {
		switch {
		case l.busy || b.posting == posting || l.failing && b.retrying == retrying:
			continue
		case now.Before(l.next):
			if d := l.next.Sub(now); wait == 0 || d < wait {
				wait = d
			}
			continue
		}
		b.order = append(slices.Delete(b.order, i, i+1), l) // the others come first next time
		l.busy = true
		b.posting++
		if l.failing {
			b.retrying++
		}
		return l, 0
	}
	return nil, wait
}

// end counts a queue as busy no more, with how the try ended. What was delivered or given up
// is gone, and so is a queue in which nothing is left.
func (b *backlog) end(l *pending, done, failed bool) {
	l.busy = false
	b.posting--
	if l.failing {
		b.retrying--
	}
	l.failing = failed
	if done {
		l.shift()
		b.total--
	}
	if len(l.events) == 0 && l.lost.count == 0 {
		b.drop(l)
	}
}

// drop forgets a queue.
func (b *backlog) drop(l *pending) {
	b.total -= len(l.events)
	delete(b.waitingFor, l.org)
	b.order = slices.DeleteFunc(b.order, func(other *pending) bool { return other == l })
}

// giveUp empties a queue that is not busy, and returns what was in it.
func (b *backlog) giveUp(l *pending) (all []lost) {
	for _, e := range l.events {
		all = append(all, lostOne(e, stopping))
	}
	if l.lost.count > 0 {
		all = append(all, l.lost)
	}
	if b.waitingFor[l.org] == l {
		b.drop(l)
	}
	return all
}

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
	waiting = 1000
	// waitingInAll is how many notices may wait together, and bytesInAll how many bytes they may
	// have. Beyond it, an organization may have no more than waitingThen.
	waitingInAll = 10_000
	waitingThen  = 10
	bytesInAll   = 32 << 20
	// keepFor is for how long a notice is tried.
	keepFor = 72 * time.Hour
	// inARow is how often a notice is tried before the one behind it is: its receiver may have
	// something against this one alone.
	inARow = 6
	// posting is how many notices are on their way at once, one of each organization. Of
	// these, retrying may be to addresses that did not answer well the last time.
	posting  = 32
	retrying = 16
)

// pending is what waits for one organization's address. It is there only while something does.
type pending struct {
	org     uuid.UUID
	events  []audit.Event // the oldest first, unless it was put behind others
	busy    bool          // the first is on its way
	failing bool          // the last try did not end well
	left    bool          // it is tried no more before the next start
	lost    lost          // what there was no room for, not recorded yet

	shreddings []*shredding // wait for the end of the try

	tried  int             // of the first, since it is that
	next   time.Time       // nothing is tried before
	pauses backoff.BackOff // nil when the last try ended well
}

// last reports whether the first is not to be tried again.
func (l *pending) last(now time.Time) bool {
	return now.Sub(l.events[0].At) >= keepFor
}

// shift goes on to the next notice.
func (l *pending) shift() {
	l.events = slices.Delete(l.events, 0, 1)
	l.tried, l.next, l.pauses = 0, time.Time{}, nil
}

// behind puts the first notice behind the others.
func (l *pending) behind() {
	first := l.events[0]
	l.events = append(slices.Delete(l.events, 0, 1), first)
	l.tried = 0
}

// backlog is all that waits. It is not safe for concurrent use.
type backlog struct {
	waitingFor map[uuid.UUID]*pending
	order      []*pending // who is next
	total      int        // events of all of them
	bytes      int64      // that these take
	posting    int        // organizations whose first notice is on its way
	retrying   int        // of these, those that were failing
}

func newBacklog() *backlog { return &backlog{waitingFor: map[uuid.UUID]*pending{}} }

// room counts what is about to be added.
type room struct {
	b     *backlog
	of    map[uuid.UUID]int
	total int
	bytes int64
}

func (b *backlog) room() *room { return &room{b: b, of: map[uuid.UUID]int{}} }

// take reports whether there is room for an event, and counts it then.
func (r *room) take(e audit.Event) bool {
	n := r.of[e.Org]
	if l := r.b.waitingFor[e.Org]; l != nil {
		n += len(l.events)
	}
	full := r.b.total+r.total >= waitingInAll || r.b.bytes+r.bytes >= bytesInAll
	if n >= waiting || full && n >= waitingThen {
		return false
	}
	r.of[e.Org]++
	r.total++
	r.bytes += e.Bytes()
	return true
}

// add takes in an event for which there is room.
func (b *backlog) add(e audit.Event) {
	l := b.of(e.Org)
	l.events = append(l.events, e)
	b.total++
	b.bytes += e.Bytes()
}

// lose counts an event as lost, for which there is none.
func (b *backlog) lose(e audit.Event) {
	l := b.of(e.Org)
	l.lost = l.lost.and(e, tooMany)
}

// of returns an organization's queue, and makes it.
func (b *backlog) of(org uuid.UUID) *pending {
	l := b.waitingFor[org]
	if l == nil {
		l = &pending{org: org}
		b.waitingFor[org] = l
		b.order = append(b.order, l)
	}
	return l
}

// begin returns a queue whose first notice may be tried now, and counts it as busy; nil if
// there is none. wait is when to ask again, zero for after the next change.
func (b *backlog) begin(now time.Time) (l *pending, wait time.Duration) {
	for i, l := range b.order {
		switch {
		case l.busy || l.left || b.posting == posting || l.failing && b.retrying == retrying:
			continue
		case now.Before(l.next) && l.lost.count == 0:
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

// end counts a queue as busy no more, with how the try of its first notice ended, if there was
// one. What was delivered or given up is gone, and so is a queue in which nothing is left.
func (b *backlog) end(l *pending, tried, done, failed bool) {
	l.busy = false
	b.posting--
	if l.failing {
		b.retrying--
	}
	if tried {
		l.failing = failed
	}
	if done {
		b.bytes -= l.events[0].Bytes()
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
	for _, e := range l.events {
		b.bytes -= e.Bytes()
	}
	delete(b.waitingFor, l.org)
	b.order = slices.DeleteFunc(b.order, func(other *pending) bool { return other == l })
}

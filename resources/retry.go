package resources

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// How long a state that could not be read is left alone: twice as long after each try.
const (
	firstRetry = time.Minute
	lastRetry  = time.Hour
	// memoryRetry is the first for one for which there was no memory: there may be soon.
	memoryRetry = 5 * time.Second
)

// retries are the states whose bytes could not be read, and when to try again: they may be
// restored, and no event says so.
type retries struct{ states map[state.Ref]retry }

type retry struct {
	at   time.Time
	wait time.Duration
}

// due reports whether it is time to read a state again.
func (r *retries) due(ref state.Ref, now time.Time) bool {
	one, ok := r.states[ref]
	return ok && !now.Before(one.at)
}

// ended notes how reading a state ended.
func (r *retries) ended(ref state.Ref, code fault.Code, now time.Time) {
	if !mayHeal(code) {
		delete(r.states, ref)
		return
	}
	first, last := firstRetry, lastRetry
	if code == fault.Overloaded {
		first, last = memoryRetry, firstRetry
	}
	wait := min(max(2*r.states[ref].wait, first), last)
	r.states[ref] = retry{now.Add(wait), wait}
}

// mayHeal reports whether the same version may be readable later. What its bytes say, or
// that they were destroyed on purpose, stays.
func mayHeal(unread fault.Code) bool {
	switch unread {
	case "", fault.VersionPurged, fault.StateEncrypted, fault.StateUnsupported, fault.StateInvalid:
		return false
	}
	return true
}

// retryUnread tries again to read what is due.
func (x *Indexer) retryUnread(ctx context.Context) error {
	for ref := range x.retries.states {
		if !x.retries.due(ref, x.Now()) {
			continue
		}
		if err := x.sync(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

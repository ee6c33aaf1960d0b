package live

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// firstLook is how long a reader waits for the end of what has happened to be found, the first who
// follows an organization only.
const firstLook = 10 * time.Second

func errUnread() error {
	f := fault.New(fault.StoreUnavailable, "what happens in the organization can't be read right now; come again")
	f.RetryAfter = 5 * time.Second
	return f
}

// Reader is somebody who follows an organization. It is for one goroutine.
type Reader struct {
	feed   *feed
	caller auth.Principal
	key    string
	close  func()

	at    Position
	next  int  // number of the event in the feed that is looked at next
	reset bool // it is to read everything anew
}

// Batch is what a reader gets at once.
type Batch struct {
	// Reset says that more has happened than is told: everything is to be read anew.
	Reset  bool
	Events []Told
	// At is how far the reader is with all of them; what came in between was not for it.
	At Position
	// More is closed when there is more; nil when there is already.
	More <-chan struct{}
}

// Told is an event, with its ID.
type Told struct {
	Event
	ID Position
}

// Close ends it.
func (r *Reader) Close() { r.close() }

// As has the reader be told what this caller may know, from now on.
func (r *Reader) As(p auth.Principal) { r.caller = p }

// At is how far it is.
func (r *Reader) At() Position { return r.at }

// begin finds where to begin.
func (r *Reader) begin(ctx context.Context, last Position, given bool) error {
	patience := time.NewTimer(firstLook)
	defer patience.Stop()
	select {
	case <-r.feed.read:
	case <-patience.C:
		return errUnread()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !given {
		r.feed.mu.Lock()
		defer r.feed.mu.Unlock()
		r.at, r.next = r.feed.at, r.feed.first+len(r.feed.events)
		return nil
	}
	end, err := r.feed.hub.end(ctx, r.feed.org)
	if err != nil {
		return err
	}
	if r.at = last; !last.covers(end) { // of another time: the store was restored
		r.at, r.reset = end, true
	}
	return nil
}

// Take returns what has come since the last call.
func (r *Reader) Take(ctx context.Context) (Batch, error) {
	if r.reset {
		r.reset = false
		return Batch{Reset: true, At: r.at}, nil
	}
	if batch, ok := r.fromFeed(); ok {
		return batch, nil
	}
	found, whole, err := r.feed.hub.since(ctx, r.feed.org, r.at)
	if err != nil {
		return Batch{}, err
	}
	if !whole {
		end, err := r.feed.hub.end(ctx, r.feed.org)
		r.at = end
		return Batch{Reset: true, At: end}, err
	}
	return r.pass(Batch{}, found), nil
}

// fromFeed takes what is in memory; not ok where that does not reach back so far.
func (r *Reader) fromFeed() (batch Batch, ok bool) {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.next = max(r.next, f.first); !f.floor.covers(r.at) {
		return Batch{}, false
	}
	events := f.events[r.next-f.first:]
	if len(events) <= sent {
		batch.More = f.more
	}
	events = events[:min(len(events), sent)]
	r.next += len(events)
	return r.pass(batch, events), true
}

// pass tells what is new to the reader, and for it.
func (r *Reader) pass(batch Batch, events []Event) Batch {
	for _, e := range events {
		if !r.at.before(e) {
			continue
		}
		r.at = r.at.after(e)
		if e.may(r.caller) {
			batch.Events = append(batch.Events, Told{e, r.at})
		}
	}
	batch.At = r.at
	return batch
}

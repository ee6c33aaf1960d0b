package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

const (
	// kept is how many of an organization's last events are in memory while somebody follows it.
	kept = 128
	// most is how many events a reader who was away catches up with; beyond that it reads anew.
	most = 512
	// page is how many are read at once.
	page = 128
	// sent is how many a reader gets at once.
	sent = 64
)

// feed follows one organization for all who do, so that what is read grows with what happens in it,
// and neither with its readers nor with other organizations.
type feed struct {
	hub  *Hub
	org  uuid.UUID
	wake chan struct{} // has a token when there may be more
	stop context.CancelFunc
	// read is closed when the feed has found where it begins.
	read chan struct{}

	readers map[string]int // by their credentials; the hub's lock is theirs

	mu     sync.Mutex
	at     Position // up to which it has read
	floor  Position // behind which it has everything
	first  int      // number of the first event that is kept
	events []Event
	more   chan struct{} // closed when there is more
}

func newFeed(h *Hub, org uuid.UUID) *feed {
	ctx, stop := context.WithCancel(context.Background())
	f := &feed{
		hub: h, org: org, wake: make(chan struct{}, 1), stop: stop, read: make(chan struct{}), readers: map[string]int{},
		more: make(chan struct{}),
	}
	go f.run(ctx)
	return f
}

// run reads until nobody follows. What can't be read now is read with the next look.
func (f *feed) run(ctx context.Context) {
	ticker := time.NewTicker(f.hub.Poll)
	defer ticker.Stop()
	for begun := false; ; {
		switch {
		case begun:
			f.look(ctx)
		default:
			begun = f.begin(ctx)
		}
		select {
		case <-f.wake:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (f *feed) begin(ctx context.Context) bool {
	at, err := f.hub.end(ctx, f.org)
	if err != nil {
		f.hub.unread(ctx, f.org, err)
		return false
	}
	f.mu.Lock()
	f.at, f.floor = at, at
	f.mu.Unlock()
	close(f.read)
	return true
}

// look reads what has come.
func (f *feed) look(ctx context.Context) {
	f.mu.Lock()
	at := f.at
	f.mu.Unlock()
	found, whole, err := f.hub.since(ctx, f.org, at)
	if err == nil && !whole {
		err = f.skip(ctx)
	}
	if err != nil {
		f.hub.unread(ctx, f.org, err)
		return
	}
	if whole {
		f.add(found)
	}
}

// skip goes on at the end: more has come than anybody catches up with.
func (f *feed) skip(ctx context.Context) error {
	end, err := f.hub.end(ctx, f.org)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first += len(f.events)
	f.at, f.floor, f.events = end, end, nil
	f.tell()
	return nil
}

func (f *feed) add(found []Event) {
	if len(found) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range found {
		f.at = f.at.after(e)
	}
	f.events = append(f.events, found...)
	if extra := len(f.events) - kept; extra > 0 {
		for _, e := range f.events[:extra] {
			f.floor = f.floor.after(e)
		}
		f.events, f.first = slices.Clone(f.events[extra:]), f.first+extra
	}
	f.tell()
}

func (f *feed) tell() {
	close(f.more)
	f.more = make(chan struct{})
}

// end is where the organization is now.
func (h *Hub) end(ctx context.Context, org uuid.UUID) (at Position, err error) {
	newest, err := h.Log.Events(ctx, org, audit.Query{Limit: 1})
	if err != nil {
		return at, err
	}
	if len(newest.Events) > 0 {
		at.Log = newest.Events[0].Sequence
	}
	if h.Runs != nil {
		at.Runs, err = h.Runs.LastChange(ctx, org)
	}
	return at, err
}

// since returns what has come behind a position, in order; not whole if that is too much.
func (h *Hub) since(ctx context.Context, org uuid.UUID, at Position) (found []Event, whole bool, err error) {
	q := audit.Query{Limit: 1} // most looks find nothing
	for more := true; more; q.Limit = page {
		next, err := h.Log.Events(ctx, org, q)
		if err != nil {
			return nil, false, err
		}
		for _, e := range next.Events {
			if more = e.Sequence > at.Log; !more {
				break
			}
			if found = append(found, ofLog(e)); len(found) > most {
				return nil, false, nil
			}
		}
		more = more && next.Next > at.Log
		q.Before = next.Next
	}
	slices.Reverse(found)
	if h.Runs == nil {
		return found, true, nil
	}
	changed, err := h.Runs.Changes(ctx, org, at.Runs, most+1)
	if err != nil || len(changed) > most {
		return nil, false, err
	}
	for _, c := range changed {
		found = append(found, ofChange(c))
	}
	return found, true, nil
}

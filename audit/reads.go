package audit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// readWindow is for how long the same reader's reads of the same state are one entry, and one with how many
	// more there were. Clients read a state again and again: an entry each would be a commit each.
	readWindow = time.Hour
	// readPatience is how long a reader waits for the entry. Reading changes nothing, and goes on where the disk
	// is full: the entry is tried again then.
	readPatience = 5 * time.Second
	// maxReadings is how many are added up at once, and maxOwnReadings of one organization. Beyond that each read
	// has an entry of its own.
	maxReadings    = 64 << 10
	maxOwnReadings = maxReadings / 4
)

// Reads puts on record who has read the bytes of states, or uploaded records: before it is done, and once an hour for
// the same caller and state, with how many more times it was.
type Reads struct {
	record Recorder
	now    func() time.Time
	log    *slog.Logger

	mu  sync.Mutex
	all map[reading]*counted
	own map[uuid.UUID]int
}

// NewReads returns one that keeps entries in record.
func NewReads(record Recorder, now func() time.Time, log *slog.Logger) *Reads {
	return &Reads{record: record, now: now, log: log, all: map[reading]*counted{}, own: map[uuid.UUID]int{}}
}

// reading is what is added up.
type reading struct {
	org                          uuid.UUID
	action                       Action
	state, key, subject, address string
	note                         string
}

func readingOf(e Event) reading {
	return reading{e.Org, e.Action, e.State, e.Actor.KeyID, e.Actor.Subject, e.Actor.Address, e.Note}
}

// counted is a reading's first entry, and how many more times it was.
type counted struct {
	ended chan struct{} // closed when the entry is on record, or could not be put there
	until time.Time
	first *Event // still to be put on record; nil when it is there
	last  Event  // the newest read that has no entry of its own
	more  int
}

// Note puts a read on record, and returns when it is there. It waits for no longer than a few seconds: an entry
// that can't be written then is tried again by Flush. The nil Reads records nothing.
func (r *Reads) Note(ctx context.Context, e Event) {
	if r == nil {
		return
	}
	c, known := r.enter(e)
	switch {
	case c == nil:
		if err := r.keep(ctx, e); err != nil {
			r.log.ErrorContext(ctx, "a read or an upload is not in the audit log", "action", e.Action, "state", e.State,
				"key", e.Actor.KeyID, "error", err)
		}
	case known:
		<-c.ended
	default:
		defer close(c.ended)
		if err := r.keep(ctx, e); err != nil {
			r.log.WarnContext(ctx, "a read or an upload is not in the audit log yet", "action", e.Action, "state", e.State,
				"error", err)
			return
		}
		r.mu.Lock()
		c.first = nil
		r.mu.Unlock()
	}
}

// enter counts a read, and says whether the reader was known. It returns nil where there is no room to count.
func (r *Reads) enter(e Event) (c *counted, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := readingOf(e)
	if c := r.all[at]; c != nil {
		c.more++
		c.last = e
		return c, true
	}
	if len(r.all) >= maxReadings || r.own[e.Org] >= maxOwnReadings {
		return nil, false
	}
	c = &counted{ended: make(chan struct{}), until: r.now().Add(readWindow), first: &e}
	r.all[at] = c
	r.own[e.Org]++
	return c, false
}

func (r *Reads) keep(ctx context.Context, e Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	return r.record.Record(ctx, e)
}

// Flush puts on record what is still to be, and how often those have read again whose hour is over; with all, of
// everybody. Of an organization that is not in force any more nothing is written: it may be being destroyed.
func (r *Reads) Flush(ctx context.Context, all bool, inForce func(uuid.UUID) bool) error {
	due := r.due(all, inForce)
	for i, e := range due {
		if err := r.keep(ctx, e.Event); err != nil {
			for _, left := range due[i:] {
				r.restore(left)
			}
			return fmt.Errorf("put on record who has read states and uploaded records: %w", err)
		}
	}
	return nil
}

// owed is an entry that is due, with what it was made of.
type owed struct {
	Event
	at    reading
	first bool
	more  int
}

// due takes out what is to be put on record now.
func (r *Reads) due(all bool, inForce func(uuid.UUID) bool) (due []owed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for at, c := range r.all {
		select {
		case <-c.ended:
		default:
			continue // it is being put on record
		}
		over := all || !now.Before(c.until)
		if inForce(at.org) {
			if c.first != nil {
				due = append(due, owed{Event: *c.first, at: at, first: true})
				c.first = nil
			}
			if over && c.more > 0 {
				e := c.last
				e.Note = again(e, c.more)
				due = append(due, owed{Event: e, at: at, more: c.more})
				c.more = 0
			}
		} else {
			over = true
		}
		if over {
			r.remove(at)
		}
	}
	return due
}

func again(e Event, more int) string {
	note, did := e.Note, "read"
	if note != "" {
		note += ", "
	}
	if e.Action == Upload {
		did = "uploaded"
	}
	return fmt.Sprintf("%s%s %d more times since the entry before", note, did, more)
}

// restore has an entry tried again that could not be written.
func (r *Reads) restore(e owed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.all[e.at]
	if c == nil {
		c = &counted{ended: make(chan struct{}), until: r.now()}
		close(c.ended)
		r.all[e.at] = c
		r.own[e.at.org]++
	}
	if e.first {
		c.first = &e.Event
		return
	}
	if c.more == 0 {
		c.last = e.Event
		c.last.Note = e.at.note
	}
	c.more += e.more
}

func (r *Reads) remove(at reading) {
	delete(r.all, at)
	if r.own[at.org]--; r.own[at.org] == 0 {
		delete(r.own, at.org)
	}
}

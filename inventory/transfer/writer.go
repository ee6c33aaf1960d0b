package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
)

// Options say how a Writer writes.
type Options struct {
	// Request stands in the store where an upload has its request's ID.
	Request string
	// Whole refuses a store that holds an organization's records from before the first one
	// that is written. Without it they are left alone.
	Whole bool
	// DryRun writes nothing, and counts what would be written.
	DryRun bool
}

// Writer brings records into a store. Those that the store has already, because an earlier
// run was interrupted or this one is repeated, are passed over; they must be the same.
type Writer struct {
	store   inventory.Store
	options Options
	lanes   map[uuid.UUID]*lane
	current *lane
}

// Tally counts what became of an organization's records.
type Tally struct {
	Present int64 // the store had them
	Added   int64 // or, in a dry run, would be added
}

// lane is what a Writer knows of an organization.
type lane struct {
	Tally
	org      uuid.UUID
	existing *follower // nil once the store has no more
	batch    batch
	newest   time.Time // of what was written
	alike    int       // records of that timestamp
}

// ErrConflict says that the store holds other records than those to be written.
var ErrConflict = errors.New("the store holds other records")

// NewWriter returns a Writer into store. Close ends it.
func NewWriter(store inventory.Store, options Options) *Writer {
	return &Writer{store: store, options: options, lanes: map[uuid.UUID]*lane{}}
}

// Write takes the next record. An organization's records come in the order of their
// timestamps; those of several organizations may be mixed.
func (w *Writer) Write(ctx context.Context, r inventory.Record) error {
	l, err := w.enter(ctx, r)
	if err != nil {
		return err
	}
	if r.Timestamp.Before(l.newest) {
		return fmt.Errorf("the record at %s comes after one at %s: records must be in the order of their timestamps",
			stamp(r.Timestamp), stamp(l.newest))
	}
	if l.existing != nil {
		return w.meet(ctx, l, r)
	}
	return w.add(ctx, l, r)
}

// enter returns the record's lane, and puts the one before to rest.
func (w *Writer) enter(ctx context.Context, r inventory.Record) (*lane, error) {
	since := r.Timestamp
	if w.options.Whole {
		since = time.Time{}
	}
	l := w.lane(r.Org, since)
	if w.current != nil && w.current != l {
		if err := w.rest(ctx, w.current); err != nil {
			return nil, err
		}
	}
	w.current = l
	return l, nil
}

// lane returns the organization's; a new one follows what the store has since then.
func (w *Writer) lane(org uuid.UUID, since time.Time) *lane {
	l, ok := w.lanes[org]
	if !ok {
		l = &lane{org: org, existing: follow(w.store, org, since)}
		w.lanes[org] = l
	}
	return l
}

func (w *Writer) rest(ctx context.Context, l *lane) error {
	if l.existing != nil {
		l.existing.pause()
	}
	return w.flush(ctx, l)
}

// meet compares the record with the one that the store has in its place, if there is one.
func (w *Writer) meet(ctx context.Context, l *lane, r inventory.Record) error {
	have, ok, err := l.existing.record(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		l.existing.pause()
		l.existing = nil
		return w.add(ctx, l, r)
	case !same(have, r):
		return fmt.Errorf("%w: of organization %s it has %s %s at %s where %s %s at %s should be (record %d)", ErrConflict, l.org,
			have.ResourceType, have.ResourceName, stamp(have.Timestamp), r.ResourceType, r.ResourceName, stamp(r.Timestamp), l.Present+1)
	}
	l.Present++
	l.pass(r.Timestamp)
	return nil
}

// add puts the record into the batch, which holds records of one timestamp.
func (w *Writer) add(ctx context.Context, l *lane, r inventory.Record) error {
	if l.batch.full() || l.batch.any() && !l.newest.Equal(r.Timestamp) {
		if err := w.flush(ctx, l); err != nil {
			return err
		}
	}
	l.pass(r.Timestamp)
	l.batch.add(r, l.alike)
	return nil
}

// pass notes that a record of this timestamp went by.
func (l *lane) pass(at time.Time) {
	if !l.newest.Equal(at) {
		l.newest, l.alike = at, 0
	}
	l.alike++
}

// flush has the batch recorded.
func (w *Writer) flush(ctx context.Context, l *lane) error {
	if !l.batch.any() {
		return nil
	}
	full := l.batch.take(l.org, w.options.Request)
	if !w.options.DryRun {
		if _, err := w.store.Append(ctx, full); err != nil {
			return err
		}
	}
	l.Added += int64(len(full.Resources))
	return nil
}

// Close has everything recorded that was written, unless the last Write failed.
func (w *Writer) Close(ctx context.Context) error {
	if w.current == nil {
		return nil
	}
	l := w.current
	w.current = nil
	return w.rest(ctx, l)
}

// Abandon ends a Writer whose last Write failed.
func (w *Writer) Abandon() {
	if w.current != nil && w.current.existing != nil {
		w.current.existing.pause()
	}
}

// Tallies returns what became of each organization's records.
func (w *Writer) Tallies() map[uuid.UUID]Tally {
	all := map[uuid.UUID]Tally{}
	for org, l := range w.lanes {
		all[org] = l.Tally
	}
	return all
}

func same(a, b inventory.Record) bool {
	return a.Timestamp.Equal(b.Timestamp) && a.Org == b.Org && a.Provider == b.Provider && a.Category == b.Category &&
		a.ResourceType == b.ResourceType && a.ResourceName == b.ResourceName && bytes.Equal(a.Attributes, b.Attributes)
}

func stamp(at time.Time) string { return string(inventory.AppendTime(nil, at)) }

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
	tenants map[uuid.UUID]*tenant
	current *tenant

	// What the tenants' batches have gathered and the store has not been given yet: batches that are
	// complete, and the bytes of all.
	heldBatches, heldBytes int
}

// Tally counts what became of an organization's records.
type Tally struct {
	Present int64 // the store had them
	Added   int64 // or, in a dry run, would be added
}

// tenant is what a Writer knows of an organization.
type tenant struct {
	Tally
	org      uuid.UUID
	existing *follower // nil once the store has no more
	batch    batch
	ready    []inventory.Batch // before that batch
	newest   time.Time         // of what was written
	alike    int               // records of that timestamp
}

// ErrConflict says that the store holds other records than those to be written.
var ErrConflict = errors.New("the store holds other records")

// NewWriter returns a Writer into store. Close ends it.
func NewWriter(store inventory.Store, options Options) *Writer {
	return &Writer{store: store, options: options, tenants: map[uuid.UUID]*tenant{}}
}

// Write takes the next record. An organization's records come in the order of their
// timestamps; those of several organizations may be mixed.
func (w *Writer) Write(ctx context.Context, r inventory.Record) error {
	l := w.switchTo(r)
	if r.Timestamp.Before(l.newest) {
		return fmt.Errorf("the record at %s comes after one at %s: records must be in the order of their timestamps",
			stamp(r.Timestamp), stamp(l.newest))
	}
	if l.existing != nil {
		return w.meet(ctx, l, r)
	}
	return w.add(ctx, l, r)
}

// switchTo returns the record's tenant, and puts the one before to rest.
func (w *Writer) switchTo(r inventory.Record) *tenant {
	since := r.Timestamp
	if w.options.Whole {
		since = time.Time{}
	}
	l := w.tenantOf(r.Org, since)
	if w.current != nil && w.current != l {
		w.current.rest()
	}
	w.current = l
	return l
}

// tenantOf returns the organization's; a new one follows what the store has since then.
func (w *Writer) tenantOf(org uuid.UUID, since time.Time) *tenant {
	l, ok := w.tenants[org]
	if !ok {
		l = &tenant{org: org, existing: follow(w.store, org, since)}
		w.tenants[org] = l
	}
	return l
}

// rest ends the reading of what the store has, until the next record.
func (l *tenant) rest() {
	if l.existing != nil {
		l.existing.pause()
	}
}

// meet compares the record with the one that the store has in its place, if there is one.
func (w *Writer) meet(ctx context.Context, l *tenant, r inventory.Record) error {
	have, ok, err := l.existing.record(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		l.existing.pause()
		l.existing = nil
		return w.add(ctx, l, r)
	case !same(have, r):
		return fmt.Errorf("%w: of organization %s it has %s %s at %s where %s %s at %s should be (record %d)", ErrConflict,
			l.org,
			have.ResourceType, have.ResourceName, stamp(have.Timestamp), r.ResourceType, r.ResourceName, stamp(r.Timestamp),
			l.Present+1)
	}
	l.Present++
	l.pass(r.Timestamp)
	return nil
}

// add puts the record into the batch, which holds records of one timestamp.
func (w *Writer) add(ctx context.Context, l *tenant, r inventory.Record) error {
	if l.batch.full() || l.batch.any() && !l.newest.Equal(r.Timestamp) {
		if err := w.hold(ctx, l); err != nil {
			return err
		}
	}
	l.pass(r.Timestamp)
	w.heldBytes += l.batch.add(r, l.alike)
	if w.heldBytes < heldBytes {
		return nil
	}
	return w.flushAll(ctx)
}

// hold puts the batch that is complete to those before it.
func (w *Writer) hold(ctx context.Context, l *tenant) error {
	l.complete(w.options.Request)
	if w.heldBatches++; w.heldBatches < heldBatches {
		return nil
	}
	return w.flushAll(ctx)
}

func (l *tenant) complete(request string) {
	if l.batch.any() {
		l.ready = append(l.ready, l.batch.cut(l.org, request))
	}
}

// flushAll has all recorded that is held, of all organizations: a file may have their
// records in turns.
func (w *Writer) flushAll(ctx context.Context) error {
	w.heldBatches, w.heldBytes = 0, 0
	for _, l := range w.tenants {
		l.complete(w.options.Request)
		if err := w.flush(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// pass notes that a record of this timestamp went by.
func (l *tenant) pass(at time.Time) {
	if !l.newest.Equal(at) {
		l.newest, l.alike = at, 0
	}
	l.alike++
}

// flush has the organization's complete batches recorded.
func (w *Writer) flush(ctx context.Context, l *tenant) error {
	ready := l.ready
	l.ready = nil
	if len(ready) == 0 {
		return nil
	}
	recorded, err := len(ready), error(nil)
	if !w.options.DryRun {
		var receipts []inventory.Receipt
		receipts, err = w.store.AppendAll(ctx, ready)
		recorded = len(receipts)
	}
	for _, batch := range ready[:recorded] {
		l.Added += int64(len(batch.Resources))
	}
	return err
}

// Close has everything recorded that was written, unless the last Write failed.
func (w *Writer) Close(ctx context.Context) error {
	if w.current == nil {
		return nil
	}
	w.current.rest()
	w.current = nil
	return w.flushAll(ctx)
}

// Abandon ends a Writer whose last Write failed.
func (w *Writer) Abandon() {
	if w.current != nil {
		w.current.rest()
	}
}

// Tallies returns what became of each organization's records.
func (w *Writer) Tallies() map[uuid.UUID]Tally {
	all := map[uuid.UUID]Tally{}
	for org, l := range w.tenants {
		all[org] = l.Tally
	}
	return all
}

func same(a, b inventory.Record) bool {
	return a.Timestamp.Equal(b.Timestamp) && a.Org == b.Org && a.Provider == b.Provider && a.Category == b.Category &&
		a.ResourceType == b.ResourceType && a.ResourceName == b.ResourceName && bytes.Equal(a.Attributes, b.Attributes)
}

func stamp(at time.Time) string { return string(inventory.AppendTime(nil, at)) }

package dual

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// mode is how a faulty side behaves.
type mode int

const (
	works     mode = iota
	fails          // before it records
	lies           // after it has recorded
	rejects        // for good, until somebody looks after it
	hangs          // until the context ends
	hangsLate      // after it has recorded
	flaps          // each call behaves as one of the above
	modes
)

// faulty is a side with a switch. Closing it leaves the store beneath open: that is the
// server, which outlives its clients.
type faulty struct {
	inventory.Store

	mu     sync.Mutex
	mode   mode
	reads  bool                     // whatever the mode
	org    uuid.UUID                // the only one that suffers, unless nil
	calls  int                      // of Append
	onCall func(step string, n int) // at "before" and "after" of each Append
	refuse func(inventory.Batch) error
}

// refusing has the side refuse batches for which this returns an error.
func (f *faulty) refusing(refuse func(inventory.Batch) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

// refuses returns the side's error for a batch that it will never take.
func (f *faulty) refuses(batch inventory.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse == nil {
		return nil
	}
	return f.refuse(batch)
}

// tooLarge refuses the batches of these IDs.
func tooLarge(ids ...string) func(inventory.Batch) error {
	return func(b inventory.Batch) error {
		if slices.Contains(ids, b.ID) {
			return fault.New(fault.BodyTooLarge, "the upload is larger than the database takes")
		}
		return nil
	}
}

func (f *faulty) set(m mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode = m
}

// onlyAppend turns the switch for appends: what is there can be read.
func (f *faulty) onlyAppend(m mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode, f.reads = m, true
}

// now returns the switch's position.
func (f *faulty) now() mode {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mode
}

// Recorded suffers as Append does, short of flapping.
func (f *faulty) Recorded(ctx context.Context, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
	switch f.now() {
	case fails, lies, rejects:
		return inventory.Remembered{}, false, fault.New(fault.StoreUnavailable, "the side is away")
	case hangs, hangsLate:
		<-ctx.Done()
		return inventory.Remembered{}, false, ctx.Err()
	}
	return f.Store.Recorded(ctx, org, id)
}

// Expire suffers as Recorded does.
func (f *faulty) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error) {
	switch f.now() {
	case fails, lies, rejects:
		return 0, fault.New(fault.StoreUnavailable, "the side is away")
	case hangs, hangsLate:
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return f.Store.Expire(ctx, org, before, limit)
}

// current returns the mode of a call.
func (f *faulty) current(org uuid.UUID) mode {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	switch {
	case f.org != uuid.Nil && f.org != org:
		return works
	case f.mode == flaps:
		return mode(f.calls*7) % flaps
	}
	return f.mode
}

func (f *faulty) at(step string) {
	f.mu.Lock()
	call, n := f.onCall, f.calls
	f.mu.Unlock()
	if call != nil {
		call(step, n)
	}
}

func (f *faulty) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	m := f.current(batch.Org)
	f.at("before")
	defer f.at("after")
	if err := f.refuses(batch); err != nil {
		return inventory.Receipt{}, err
	}
	switch m {
	case fails:
		return inventory.Receipt{}, errAway()
	case lies:
		_, err := f.Store.Append(ctx, batch)
		return inventory.Receipt{}, errors.Join(errAway(), err)
	case rejects:
		return inventory.Receipt{}, fault.New(fault.StoreCorrupt, "line 17 was edited")
	case hangs:
		<-ctx.Done()
		return inventory.Receipt{}, ctx.Err()
	case hangsLate:
		_, err := f.Store.Append(ctx, batch)
		<-ctx.Done()
		return inventory.Receipt{}, errors.Join(ctx.Err(), err)
	}
	return f.Store.Append(ctx, batch)
}

func (f *faulty) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	return inventory.AppendEach(ctx, f, batches)
}

func (f *faulty) Records(ctx context.Context, org uuid.UUID,
	query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	if m := f.current(org); !f.reads && m != works && m != rejects {
		return func(yield func(inventory.Positioned, error) bool) { yield(inventory.Positioned{}, errAway()) }
	}
	return f.Store.Records(ctx, org, query)
}

func (f *faulty) Status(ctx context.Context) error {
	if m := f.current(uuid.Nil); m != works && m != rejects && f.org == uuid.Nil {
		return errAway()
	}
	return f.Store.Status(ctx)
}

func (f *faulty) Close() error { return nil }

func errAway() error { return fault.New(fault.StoreUnavailable, "connection refused") }

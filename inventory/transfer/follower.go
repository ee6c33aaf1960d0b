package transfer

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// follower gives out the records that a store has of an organization, one at a time. It
// can be paused, so that a writer for many organizations keeps one reading open, not many.
type follower struct {
	store inventory.Store
	org   uuid.UUID
	query inventory.Query

	next func() (inventory.Positioned, error, bool)
	stop func() // nil while it is paused
}

// follow begins with the first record at this time or later.
func follow(store inventory.Store, org uuid.UUID, since time.Time) *follower {
	return &follower{store: store, org: org, query: inventory.Query{Since: since}}
}

// record returns the next record; false behind the last one.
func (f *follower) record(ctx context.Context) (inventory.Record, bool, error) {
	if f.stop == nil {
		f.next, f.stop = iter.Pull2(f.store.Records(ctx, f.org, f.query))
	}
	record, err, ok := f.next()
	if !ok || err != nil {
		return inventory.Record{}, false, err
	}
	f.query.After = record.Next
	return record.Record, true, nil
}

func (f *follower) pause() {
	if f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

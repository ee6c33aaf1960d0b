package dual

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// storeError turns what SQLite says of the outbox into a fault. Without the outbox there
// is no upload: what one side misses could not be kept.
func storeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, sqlitedb.ErrNotInPlace) {
		return fault.Wrap(err, fault.StoreUnavailable,
			"the outbox's database file was removed or replaced while it was in use; put it back and restart")
	}
	switch sqlitedb.TroubleOf(err) {
	case sqlitedb.Full:
		return fault.Wrap(err, fault.StoreFull, "nothing was stored in the outbox: %s", sqlitedb.Full)
	case sqlitedb.Damaged:
		return fault.Wrap(err, fault.StoreCorrupt, "the outbox's database file is damaged; an operator must restore it")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the outbox can't be used right now")
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

package index

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// Uncertain reports whether it is unknown if the change that err came for was made.
// Settle finds out.
func Uncertain(err error) bool { return sqlitedb.Uncertain(err) }

// storeError turns what SQLite says into a fault. What isn't listed is a mistake of ours.
func storeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	switch sqlitedb.TroubleOf(err) {
	case sqlitedb.None, sqlitedb.TooBig:
		return err
	case sqlitedb.Full:
		return fault.Wrap(err, fault.StoreFull, "nothing was stored: %s", sqlitedb.Full)
	case sqlitedb.Closed:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's index is closed")
	case sqlitedb.Damaged:
		return fault.Wrap(err, fault.StoreCorrupt,
			"the store's index is damaged; an operator must restore it, or remove it to have it made again")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the store's index can't be read or written right now")
}

// everybodys reports whether any other transaction would have failed as well.
func everybodys(err error) bool {
	_, known := errors.AsType[*fault.Error](storeError(err))
	return known || Uncertain(err)
}

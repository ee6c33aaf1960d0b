package index

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	sqlite3 "modernc.org/sqlite/lib"
)

// uncertain marks the error of a COMMIT that may have happened all the same.
type uncertain struct{ error }

func (u uncertain) Unwrap() error { return u.error }

// Uncertain reports whether it is unknown if the change that err came for was made.
// Settle finds out.
func Uncertain(err error) bool {
	_, ok := errors.AsType[uncertain](err)
	return ok
}

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
		return fault.Wrap(err, fault.StoreCorrupt, "the store's index is damaged; an operator must restore it, or remove it to have it made again")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the store's index can't be read or written right now")
}

// everybodys reports whether any other transaction would have failed as well.
func everybodys(err error) bool {
	_, known := errors.AsType[*fault.Error](storeError(err))
	return known || Uncertain(err)
}

// commitError marks a COMMIT's error, unless it says that nothing can have been written
// to the end.
func commitError(err error) error {
	switch sqlitedb.Code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY:
		return err
	}
	return uncertain{err}
}

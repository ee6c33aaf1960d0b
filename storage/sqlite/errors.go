package sqlite

import (
	"errors"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// storeError turns what SQLite says into a fault.
func storeError(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, sqlitedb.ErrNotInPlace) {
		return fault.Wrap(err, fault.StoreUnavailable,
			"the store's database file was removed or replaced while it was in use; put it back and restart")
	}
	return faultFor(err, sqlitedb.TroubleOf(err))
}

// faultFor says to callers what kind of trouble err is.
//
// A damaged database file is StateCorrupt, like a damaged body: to try again doesn't help,
// an operator must restore it. What isn't listed is a mistake of ours and stays as it is,
// which the caller sees as internal.
func faultFor(err error, trouble sqlitedb.Trouble) error {
	switch trouble {
	case sqlitedb.Full:
		return fault.Wrap(err, fault.StoreFull, "nothing was stored: %s", sqlitedb.Full)
	case sqlitedb.TooBig:
		return fault.Wrap(err, fault.BodyTooLarge, "the state is larger than the store can keep")
	case sqlitedb.Damaged:
		return fault.Wrap(err, fault.StateCorrupt, "the store's database file is damaged; an operator must restore it")
	case sqlitedb.Closed:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's database connection is closed")
	case sqlitedb.ReadOnly:
		return fault.Wrap(err, fault.StoreUnavailable, "the store is read-only")
	case sqlitedb.Failing:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's disk reports an I/O error")
	case sqlitedb.Busy:
		return fault.Wrap(err, fault.StoreUnavailable, "another process holds the store's database")
	case sqlitedb.Unopenable:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's database file can't be opened")
	case sqlitedb.Exhausted:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's database can't work right now")
	}
	return err
}

// writeError is storeError for what went wrong in writing. SQLite knows that a disk is
// full by ENOSPC from a write alone: a quota, a limit on the file's size, and what only
// fsync tells are I/O errors to it. After one of those try has to say.
func writeError(err error, try func() error) error {
	if failedWrite(sqlitedb.Code(err)) && sqlitedb.NoRoom(try()) {
		return fault.Wrap(err, fault.StoreFull, "nothing was stored: %s", sqlitedb.Full)
	}
	return storeError(err)
}

func failedWrite(code int) bool {
	switch code {
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC,
		sqlite3.SQLITE_IOERR_TRUNCATE:
		return true
	}
	return false
}

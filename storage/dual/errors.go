package dual

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
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
	code := sqlite3.SQLITE_OK
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code()
	}
	switch {
	case code == sqlite3.SQLITE_FULL, code == sqlite3.SQLITE_IOERR_SHMSIZE: // the second is ENOSPC for the -shm file
		return fault.Wrap(err, fault.StoreFull, "the outbox's disk is full")
	case code&0xff == sqlite3.SQLITE_CORRUPT, code&0xff == sqlite3.SQLITE_NOTADB:
		return fault.Wrap(err, fault.StoreCorrupt, "the outbox's database file is damaged; an operator must restore it")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the outbox can't be used right now")
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

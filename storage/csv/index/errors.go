package index

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/holdfast/holdfast/fault"
	sqlitedriver "modernc.org/sqlite"
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
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) {
		return fault.Wrap(err, fault.StoreUnavailable, "the store's index is closed")
	}
	switch codeOf(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // the second is ENOSPC for the -shm file
		return fault.Wrap(err, fault.StoreFull, "the store's disk is full")
	}
	return byClass(err, codeOf(err)&0xff)
}

// everybodys reports whether any other transaction would have failed as well.
func everybodys(err error) bool {
	_, known := errors.AsType[*fault.Error](storeError(err))
	return known || Uncertain(err)
}

// byClass goes by the primary code that extended codes refine.
func byClass(err error, code int) error {
	switch code {
	case sqlite3.SQLITE_OK:
		return err
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(err, fault.StoreCorrupt, "the store's index is damaged; an operator must restore it, or remove it to have it made again")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOLFS:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's index can't be read or written right now")
	}
	return err
}

// commitError marks a COMMIT's error, unless it says that nothing can have been written
// to the end.
func commitError(err error) error {
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY:
		return err
	}
	return uncertain{err}
}

// mustReopen says whether a connection that returned err is to be replaced: after trouble
// with the files, nothing that it keeps in memory is to be believed.
func mustReopen(err error) bool {
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_MISUSE:
		return true
	}
	return errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn)
}

// codeOf returns SQLite's extended result code, SQLITE_OK for an error of another kind.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlitedriver.Error](err); ok {
		return e.Code()
	}
	return sqlite3.SQLITE_OK
}

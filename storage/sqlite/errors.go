package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"syscall"

	"github.com/holdfast/holdfast/fault"
	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// storeError turns what SQLite says into a fault.
//
// A damaged database file is StateCorrupt, like a damaged body: to try again doesn't help,
// an operator must restore it. What isn't listed is a mistake of ours and stays as it is,
// which the caller sees as internal.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) {
		return fault.Wrap(err, fault.StoreUnavailable, "the store's database connection is closed")
	}
	return byCode(err, codeOf(err))
}

// byCode goes by the extended result code.
func byCode(err error, code int) error {
	switch code {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // the second is ENOSPC for the -shm file
		return fault.Wrap(err, fault.StoreFull, "the store's disk is full")
	case sqlite3.SQLITE_TOOBIG:
		return fault.Wrap(err, fault.BodyTooLarge, "the state is larger than the store can keep")
	default:
		return byClass(err, code&0xff)
	}
}

// writeError is storeError for what went wrong in writing. SQLite knows that a disk is
// full by ENOSPC from a write alone: a quota, a limit on the file's size, and what only
// fsync tells are I/O errors to it. After one of those try has to say.
func writeError(err error, try func() error) error {
	if failedWrite(codeOf(err)) && noRoom(try()) {
		return fault.Wrap(err, fault.StoreFull, "the store's disk is full")
	}
	return storeError(err)
}

func failedWrite(code int) bool {
	switch code {
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE:
		return true
	}
	return false
}

// noRoom reports whether err is the system's way to say so.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// byClass goes by the primary code that extended codes refine.
func byClass(err error, code int) error {
	switch code {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(err, fault.StateCorrupt, "the store's database file is damaged; an operator must restore it")
	case sqlite3.SQLITE_READONLY:
		return fault.Wrap(err, fault.StoreUnavailable, "the store is read-only")
	case sqlite3.SQLITE_IOERR:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's disk reports an I/O error")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return fault.Wrap(err, fault.StoreUnavailable, "another process holds the store's database")
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's database file can't be opened")
	case sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOLFS:
		return fault.Wrap(err, fault.StoreUnavailable, "the store's database can't work right now")
	}
	return err
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

func errClosed() error {
	return fault.New(fault.StoreUnavailable, "the store is closed")
}

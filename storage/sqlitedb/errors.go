package sqlitedb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast/holdfast/internal/disk"
)

// Trouble is what an error means for a store.
type Trouble int

// The kinds of trouble.
const (
	None       Trouble = iota // no error, a mistake of ours, or nothing of SQLite's
	Full                      // the disk is full
	TooBig                    // a row is larger than SQLite can keep
	Closed                    // the connection is closed
	Damaged                   // the file is not what SQLite wrote
	ReadOnly                  // the file, the disk or the connection takes no writes
	Failing                   // the disk reports an I/O error
	Busy                      // another process holds the database
	Unopenable                // the file can't be opened
	Exhausted                 // memory, or another thing that may come back
)

// String says it to people.
func (t Trouble) String() string {
	switch t {
	case Full:
		return "no space left on the disk"
	case TooBig:
		return "a row is larger than the database can keep"
	case Closed:
		return "the database connection is closed"
	case Damaged:
		return "the database file is damaged"
	case ReadOnly:
		return "the file or its disk is read-only"
	case Failing:
		return "the disk reports an I/O error"
	case Busy:
		return "another process holds the database"
	case Unopenable:
		return "the database file can't be opened"
	case Exhausted:
		return "the database can't work right now"
	default:
		return "no trouble of the database's"
	}
}

// TroubleOf returns what an error means, one of SQLite's or of the system's.
func TroubleOf(err error) Trouble {
	switch {
	case closed(err):
		return Closed
	case NoRoom(err):
		return Full
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Unopenable
	}
	return ByCode(Code(err))
}

// NoRoom reports whether an error is the system's way to say that a disk, or somebody's share
// of it, is full.
func NoRoom(err error) bool { return disk.NoRoom(err) }

// Explain puts into words what SQLite gives a number only.
func Explain(err error) error {
	if trouble := TroubleOf(err); err != nil && trouble != None {
		return fmt.Errorf("%s: %w", trouble, err)
	}
	return err
}

func closed(err error) bool {
	return errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn)
}

// ByCode returns what an extended result code means.
func ByCode(code int) Trouble {
	switch code {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // the second is ENOSPC for the -shm file
		return Full
	default:
		return byClass(code & 0xff)
	}
}

// byClass goes by the primary code that extended codes refine.
func byClass(code int) Trouble {
	switch code {
	case sqlite3.SQLITE_TOOBIG:
		return TooBig
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return Damaged
	case sqlite3.SQLITE_READONLY:
		return ReadOnly
	case sqlite3.SQLITE_IOERR:
		return Failing
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return Busy
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return Unopenable
	case sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOLFS:
		return Exhausted
	}
	return None
}

// MustReopen says whether a connection that returned err is to be replaced: after trouble
// with the files, nothing that it keeps in memory is to be believed.
func MustReopen(err error) bool {
	switch Code(err) & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_MISUSE:
		return true
	}
	return closed(err)
}

// Code returns SQLite's extended result code, SQLITE_OK for an error of another kind.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return sqlite3.SQLITE_OK
}

// IsDuplicate says whether err is a row's that is there already.
func IsDuplicate(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

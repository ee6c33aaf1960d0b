package sqlitedb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

func TestByCode(t *testing.T) {
	for code, want := range map[int]Trouble{
		sqlite3.SQLITE_OK:               None,
		sqlite3.SQLITE_CONSTRAINT:       None,
		sqlite3.SQLITE_FULL:             Full,
		sqlite3.SQLITE_IOERR_SHMSIZE:    Full,
		sqlite3.SQLITE_IOERR_FSYNC:      Failing,
		sqlite3.SQLITE_TOOBIG:           TooBig,
		sqlite3.SQLITE_CORRUPT_INDEX:    Damaged,
		sqlite3.SQLITE_NOTADB:           Damaged,
		sqlite3.SQLITE_READONLY_DBMOVED: ReadOnly,
		sqlite3.SQLITE_BUSY_SNAPSHOT:    Busy,
		sqlite3.SQLITE_CANTOPEN:         Unopenable,
		sqlite3.SQLITE_NOMEM:            Exhausted,
	} {
		if got := ByCode(code); got != want {
			t.Errorf("%d is %d, want %d", code, got, want)
		}
	}
}

func TestClosedConnections(t *testing.T) {
	for _, err := range []error{sql.ErrConnDone, driver.ErrBadConn} {
		err = fmt.Errorf("wrapped: %w", err)
		if TroubleOf(err) != Closed || !MustReopen(err) {
			t.Errorf("%v does not count as a closed connection", err)
		}
	}
	for _, err := range []error{nil, errors.New("another")} {
		if TroubleOf(err) != None || MustReopen(err) {
			t.Errorf("%v counts as trouble", err)
		}
	}
}

// A full disk has one name, whoever says it.
func TestNoRoom(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT,
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}} {
		if got := TroubleOf(err); got != Full || !strings.Contains(Explain(err).Error(), "no space left on the disk") ||
			!errors.Is(Explain(err), err) {
			t.Errorf("%v is %v, explained as %v", err, got, Explain(err))
		}
	}
	if err := errors.New("ours"); TroubleOf(err) != None || Explain(err) != err || Explain(nil) != nil {
		t.Error("trouble where there is none")
	}
}

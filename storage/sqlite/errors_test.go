package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

func TestCodes(t *testing.T) {
	for code, want := range map[int]fault.Code{
		sqlite3.SQLITE_FULL:             fault.StoreFull,
		sqlite3.SQLITE_IOERR_SHMSIZE:    fault.StoreFull,
		sqlite3.SQLITE_IOERR_FSYNC:      fault.StoreUnavailable,
		sqlite3.SQLITE_TOOBIG:           fault.BodyTooLarge,
		sqlite3.SQLITE_CORRUPT_INDEX:    fault.StateCorrupt,
		sqlite3.SQLITE_NOTADB:           fault.StateCorrupt,
		sqlite3.SQLITE_READONLY_DBMOVED: fault.StoreUnavailable,
		sqlite3.SQLITE_BUSY_SNAPSHOT:    fault.StoreUnavailable,
		sqlite3.SQLITE_CANTOPEN:         fault.StoreUnavailable,
		sqlite3.SQLITE_NOMEM:            fault.StoreUnavailable,
		sqlite3.SQLITE_CONSTRAINT:       fault.InternalError,
	} {
		if err := faultFor(errors.New("cause"), sqlitedb.ByCode(code)); fault.From(err).Code != want {
			t.Errorf("%d is %v, want one with %s", code, err, want)
		}
	}
}

// TestFullAtSync fails fsyncs and has the disk say why.
func TestFullAtSync(t *testing.T) {
	s, _ := opened(t)
	failSyncs(t, s).Store(1)
	_, fail := put(s, newRef("full"), []byte("{}"))
	for cause, want := range map[error]fault.Code{
		nil:            fault.StoreUnavailable,
		syscall.EIO:    fault.StoreUnavailable,
		syscall.EROFS:  fault.StoreUnavailable,
		syscall.ENOSPC: fault.StoreFull,
		syscall.EDQUOT: fault.StoreFull,
		syscall.EFBIG:  fault.StoreFull,
	} {
		if cause != nil {
			cause = fmt.Errorf("trial: %w", &os.PathError{Op: "write", Path: "x", Err: cause})
		}
		wantFault(t, writeError(fail, func() error { return cause }), want)
	}
}

// TestTrialOnlyAfterWrites keeps the trial off every other path.
func TestTrialOnlyAfterWrites(t *testing.T) {
	trial := func() error {
		t.Error("the disk was tried")
		return syscall.ENOSPC
	}
	wantFault(t, writeError(sql.ErrConnDone, trial), fault.StoreUnavailable)
	if err := writeError(nil, trial); err != nil {
		t.Error(err)
	}
}

// TestFailingRead wants a reader's error to be told as what it is.
func TestFailingRead(t *testing.T) {
	s, _ := opened(t)
	err := s.read(t.Context(), func(*reader) error { return sql.ErrConnDone })
	wantFault(t, err, fault.StoreUnavailable)
}

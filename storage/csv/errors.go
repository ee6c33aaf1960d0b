package csv

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

func errClosed() error {
	return fault.New(fault.StoreUnavailable, "the store is closed")
}

// fileError turns what the system says of a file into a fault.
func fileError(err error) error {
	if sqlitedb.NoRoom(err) {
		return fault.Wrap(err, fault.StoreFull, "nothing was stored: %s", sqlitedb.Full)
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || err == nil {
		return err
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the organization's upload file can't be read or written right now")
}

func errQueueFull() error {
	err := fault.New(fault.StoreUnavailable, "too many uploads of this organization are waiting")
	err.RetryAfter = time.Second
	return err
}

// badFile says why a file is refused. It holds lines and reasons, never contents.
type badFile struct {
	path        string
	first, last int64 // lines; last is 0 if the first is the one
	reason      string
}

func (b *badFile) Error() string {
	if b.last > b.first {
		return fmt.Sprintf("%s, lines %d to %d: %s", b.path, b.first, b.last, b.reason)
	}
	return fmt.Sprintf("%s, line %d: %s", b.path, b.first, b.reason)
}

// fault is what the caller learns.
func (b *badFile) fault(org uuid.UUID) error {
	return fault.Wrap(b, fault.StoreCorrupt,
		"the upload file %s%s is refused because of line %d: it was changed from outside, or is damaged", org, suffix,
		b.first)
}

package resourceindex

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// storeError turns what SQLite says into a fault. What isn't listed is a mistake of ours.
func storeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch sqlitedb.TroubleOf(err) {
	case sqlitedb.None, sqlitedb.TooBig:
		if err.Error() == "sql: database is closed" { // database/sql has no name for it
			return fault.Wrap(err, fault.StoreUnavailable, "the resource index is closed")
		}
		return err
	case sqlitedb.Full:
		return fault.Wrap(err, fault.StoreFull, "the resource index's disk is full")
	case sqlitedb.Damaged:
		return fault.Wrap(err, fault.StoreCorrupt, "the resource index is damaged; stop the server and remove resources.db to have it made again")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the resource index can't be read or written right now")
}

package resourceindex

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// fault turns what SQLite says into a fault. What isn't listed is a mistake of ours. Damage is remembered until Reset.
func (x *Index) fault(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch sqlitedb.TroubleOf(err) {
	case sqlitedb.None, sqlitedb.TooBig:
		if err.Error() == "sql: database is closed" { // database/sql has no name for it
			return fault.Wrap(err, fault.StoreUnavailable, "the resource index was closed, or is made again; ask again later")
		}
		return err
	case sqlitedb.Damaged:
		x.damaged.Store(true)
		return fault.Wrap(err, fault.StoreUnavailable, "the resource index is damaged, and is made again; ask again later")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the resource index can't be read or written right now")
}

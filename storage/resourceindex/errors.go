package resourceindex

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// unreadable is fault for a row that was found. If it is not what was written, that is
// damage too: SQLite keeps no checksums.
func (x *Index) unreadable(err error) error {
	if sqlitedb.TroubleOf(err) != sqlitedb.None || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return x.fault(err)
	}
	return x.damage(err)
}

func (x *Index) damage(err error) error {
	x.damaged.Store(true)
	return fault.Wrap(err, fault.StoreUnavailable, "the resource index is damaged, and is made again now; ask again later")
}

// fault turns what SQLite says into a fault. What isn't listed is a mistake of ours. Damage
// is remembered.
func (x *Index) fault(err error) error {
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
		return fault.Wrap(err, fault.StoreFull, "the resource index can't be written: %s", sqlitedb.Full)
	case sqlitedb.Damaged:
		return x.damage(err)
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the resource index can't be read or written right now")
}

// notOpen says why there is no index to ask.
func notOpen(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.StoreUnavailable, "the resource index was not opened yet")
	}
	code := fault.StoreUnavailable
	trouble := sqlitedb.TroubleOf(err)
	switch trouble {
	case sqlitedb.Full:
		code = fault.StoreFull
	case sqlitedb.None:
		return fault.Wrap(err, code, "the resource index can't be opened; the server's log says why")
	}
	return fault.Wrap(err, code, "the resource index can't be opened: %s", trouble)
}

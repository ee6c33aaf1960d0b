package sqldb

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// settled reports whether an error is none of the database's.
func settled(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return err == nil || ok || errors.Is(err, context.Canceled)
}

// sqliteError turns what SQLite says into a fault. What isn't listed is a mistake of ours and
// stays as it is, which the caller sees as internal.
func sqliteError(err error) error {
	if settled(err) {
		return err
	}
	if errors.Is(err, sqlitedb.ErrNotInPlace) {
		return fault.Wrap(err, fault.StoreUnavailable,
			"the run database's file was removed or replaced while it was in use; put it back and restart")
	}
	switch trouble := sqlitedb.TroubleOf(err); trouble {
	case sqlitedb.None:
		return err
	case sqlitedb.Full:
		return fault.Wrap(err, fault.StoreFull, "nothing was stored: %s", trouble)
	case sqlitedb.Damaged:
		return fault.Wrap(err, fault.StoreCorrupt, "the run database's file is damaged; an operator must restore it")
	case sqlitedb.TooBig:
		return fault.Wrap(err, fault.BodyTooLarge, "it is larger than the store can keep")
	default:
		return unavailable(err)
	}
}

// texts are what callers are told.
func texts() mysqldb.Texts {
	return mysqldb.Texts{
		TooLarge: "it is larger than the database takes",
		Away:     "the run database can't be reached or can't work right now; try again",
	}
}

func unavailable(err error) error { return texts().Unavailable(err) }

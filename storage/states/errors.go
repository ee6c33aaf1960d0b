package states

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

// texts are what callers are told.
func texts() mysqldb.Texts {
	return mysqldb.Texts{
		TooLarge: "the state is larger than the database takes",
		Away:     "the database can't be reached or can't work right now; try again",
	}
}

// storeError turns what the driver and the server say into a fault.
func storeError(err error) error {
	if mysqldb.IsDuplicate(err) ||
		errors.Is(err, errUndone) { // of a row that others have made meanwhile, or cut off, again and again
		return unavailable(err)
	}
	err = texts().Fault(err)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.StoreCorrupt {
		return fault.Wrap(err, fault.StateCorrupt,
			"a table of the database is missing, damaged or was changed; an operator must restore it")
	}
	return err
}

func unavailable(err error) error { return texts().Unavailable(err) }

// explain is storeError for a call whose context may have ended: then that is what it is told.
func explain(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		if _, ok := errors.AsType[*fault.Error](err); !ok {
			return ctx.Err()
		}
	}
	return storeError(err)
}

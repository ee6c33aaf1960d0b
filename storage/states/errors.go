package states

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
)

// storeError turns what the driver and the server say into a fault.
func (d dialect) storeError(err error) error {
	if d.IsDuplicate(err) { // of a row that others have made meanwhile, again and again
		return d.unavailable(err)
	}
	err = d.Fault(err, "the state is larger than the database takes", away)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.StoreCorrupt {
		return fault.Wrap(err, fault.StateCorrupt,
			"a table of the database is missing, damaged or was changed; an operator must restore it")
	}
	return err
}

const away = "the database can't be reached or can't work right now; try again"

func (d dialect) unavailable(err error) error { return d.Unavailable(err, away) }

// explain is storeError for a call whose context may have ended: then that is what it is told.
func (s *Store) explain(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		if _, ok := errors.AsType[*fault.Error](err); !ok {
			return ctx.Err()
		}
	}
	return s.sql.storeError(err)
}

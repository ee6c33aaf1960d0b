package mysql

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

// retryAfter is what a caller is told while the database is away.
const retryAfter = 2 * time.Second

// storeError turns what the driver and the server say into a fault. What isn't listed is a
// mistake of ours and stays as it is, which the caller sees as internal.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	switch {
	case mysqldb.IsAway(err), mysqldb.IsConflict(err), mysqldb.IsDenied(err), mysqldb.IsDistrusted(err):
		return unavailable(err)
	case mysqldb.IsFull(err):
		return fault.Wrap(err, fault.StoreFull, "the database has no space left")
	case mysqldb.IsTooLarge(err):
		return fault.Wrap(err, fault.BodyTooLarge, "the upload is larger than the database takes")
	case mysqldb.IsDamage(err):
		return fault.Wrap(err, fault.StoreCorrupt, "a table of the database is missing, damaged or was changed; an operator must restore it")
	}
	return err
}

func unavailable(err error) error {
	f := fault.Wrap(err, fault.StoreUnavailable, "the database can't be reached or can't work right now; try again")
	f.RetryAfter = retryAfter
	return f
}

func errClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

// isRefusedJSON says whether the server takes the text for no JSON of its kind: a number
// beyond a double (MySQL, TiDB) or half of a surrogate pair (all of them).
func isRefusedJSON(err error) bool {
	return slices.Contains([]uint16{3140, 3141, 3146, 3157, 3903, 4025, 4038}, mysqldb.Number(err))
}

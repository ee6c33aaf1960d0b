package mysqldb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/serverdb"
)

// retryAfter is what a caller is told while the database is away.
const retryAfter = 2 * time.Second

// Texts are what a store's callers are told in its own words.
type Texts struct {
	TooLarge string // what is larger than the database takes
	Away     string // that the database can't be reached or can't work right now
}

// Fault turns what the driver and the server say into a fault. What isn't listed is a mistake of
// ours and stays as it is, which the caller sees as internal; so do faults, and the end of a context.
func (t Texts) Fault(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); err == nil || ok || errors.Is(err, context.Canceled) {
		return err
	}
	switch {
	case errors.Is(err, ErrDemoted):
		t.Away = ErrDemoted.Error()
		return t.Unavailable(err)
	case slices.Contains([]uint16{1290, 1792, 1836}, Number(err)):
		t.Away = serverdb.TakesNoWrites
		return t.Unavailable(err)
	case slices.Contains([]uint16{1044, 1142, 1143, 1227}, Number(err)):
		t.Away = serverdb.LacksRight
		return t.Unavailable(err)
	case slices.Contains([]uint16{errUnknownDatabase, 1045, 1698}, Number(err)):
		t.Away = serverdb.LetsNobodyIn
		return t.Unavailable(err)
	case slices.Contains([]uint16{1969, 3024}, Number(err)):
		t.Away = serverdb.TookTooLong + " (max_statement_time or max_execution_time)"
		return t.Unavailable(err)
	case IsAway(err), IsConflict(err), IsDenied(err), IsDistrusted(err):
		return t.Unavailable(err)
	case IsFull(err):
		return fault.Wrap(err, fault.StoreFull, "%s", serverdb.HasNoSpace)
	case IsTooLarge(err):
		return fault.Wrap(err, fault.BodyTooLarge, "%s", t.TooLarge)
	case IsDamage(err):
		return fault.Wrap(err, fault.StoreCorrupt,
			"a table of the database is missing, damaged or was changed; an operator must restore it")
	}
	return err
}

// Unavailable is the fault of a database that is away.
func (t Texts) Unavailable(err error) error {
	f := fault.Wrap(err, fault.StoreUnavailable, "%s", t.Away)
	f.RetryAfter = retryAfter
	return f
}

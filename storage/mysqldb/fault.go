package mysqldb

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
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
	case IsAway(err), IsConflict(err), IsDenied(err), IsDistrusted(err):
		return t.Unavailable(err)
	case IsFull(err):
		return fault.Wrap(err, fault.StoreFull, "the database has no space left")
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

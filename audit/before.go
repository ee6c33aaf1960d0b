package audit

import (
	"context"

	"github.com/holdfast/holdfast/fault"
)

// Before puts a change on record and then makes it, where both can't be one transaction: without the entry there is
// no change. A change that is not made then has another entry, with why.
func Before(ctx context.Context, record Recorder, e Event, change func() error) error {
	ctx = context.WithoutCancel(ctx)
	if err := record.Record(ctx, e); err != nil {
		return err
	}
	err := change()
	if err != nil {
		e.Refused = fault.From(err).Code
		_ = record.Record(ctx, e) // the caller is told the change's own error
	}
	return err
}

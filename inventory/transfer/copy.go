package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/inventory"
)

// Copied is what a Copy did.
type Copied struct {
	Tally
	Source Extent
}

// Copy brings what an organization has in one store into another one, which may hold the
// beginning of it already, and nothing else. It calls read, which may be nil, for each
// record of the source. An error leaves the beginning in the target: Copy again goes on.
func Copy(ctx context.Context, from, to inventory.Store, org uuid.UUID, options Options, read func()) (Copied, error) {
	options.Whole = true
	w := NewWriter(to, options)
	defer w.Abandon()
	l := w.tenantOf(org, time.Time{}) // also for a source that turns out to have nothing
	w.current = l
	digest := NewDigest()
	for record, err := range from.Records(ctx, org, inventory.Query{}) {
		if err == nil {
			err = checkAttributes(record.Record)
		}
		if err == nil {
			err = w.Write(ctx, record.Record)
		}
		if err != nil {
			return Copied{Tally: l.Tally}, err
		}
		digest.Add(record.Record)
		if read != nil {
			read()
		}
	}
	if err := l.nothingLeft(ctx); err != nil {
		return Copied{Tally: l.Tally, Source: digest.Extent()}, err
	}
	err := w.Close(ctx)
	return Copied{Tally: l.Tally, Source: digest.Extent()}, err
}

// checkAttributes refuses what a store gives out that nobody can have uploaded: somebody has
// changed it there. A store takes what it is given for what Resource promises.
func checkAttributes(r inventory.Record) error {
	err := jsonscan.Object(r.Attributes, jsonscan.Limits{}, nil)
	if err != nil {
		err = fmt.Errorf("organization %s has %s %s at %s, whose attributes are not a JSON object: %w", r.Org, r.ResourceType,
			r.ResourceName, stamp(r.Timestamp), err)
	}
	return err
}

// nothingLeft refuses a store that has more than what was written.
func (l *tenant) nothingLeft(ctx context.Context) error {
	if l.existing == nil {
		return nil
	}
	extra, any, err := l.existing.record(ctx)
	if err != nil || !any {
		return err
	}
	return fmt.Errorf("%w: of organization %s it has %s %s at %s behind the %d records that there should be", ErrConflict,
		l.org,
		extra.ResourceType, extra.ResourceName, stamp(extra.Timestamp), l.Present)
}

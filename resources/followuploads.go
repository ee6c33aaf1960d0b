package resources

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// followUploads reads what was recorded behind each organization's cursor. An organization
// whose records can't be read stops none of the others.
func (x *Indexer) followUploads(ctx context.Context) error {
	followed, err := x.Index.Followed(ctx)
	if err != nil {
		return err
	}
	var first error
	for org, err := range x.Uploads.Organizations(ctx) {
		if fault.Is(err, fault.UploadsOff) {
			break // what was followed before is to go
		}
		if err != nil {
			return err
		}
		err := x.followOrg(ctx, org, followed[org])
		delete(followed, org)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if x.passes(ctx, org, err) && first == nil {
			first = err
		}
	}
	for org := range followed { // they have no records any more
		if err := x.forget(ctx, org); err != nil {
			return err
		}
	}
	return first
}

// passes reports whether an organization's records can't be read for a reason that passes.
// Damage is logged once, for it stays until an operator mends it.
func (x *Indexer) passes(ctx context.Context, org uuid.UUID, err error) bool {
	damaged := fault.Is(err, fault.StoreCorrupt)
	if damaged && !x.damaged[org] {
		x.Log.ErrorContext(ctx, "an organization's uploads can't be read into the resource index", "org", org, "error", err)
	}
	x.damaged[org] = damaged
	return err != nil && !damaged
}

func (x *Indexer) followOrg(ctx context.Context, org uuid.UUID, cursor string) error {
	err := x.readOrg(ctx, org, cursor)
	if !fault.Is(err, fault.CursorInvalid) {
		return err
	}
	// The records are not those that were followed: they were restored or replaced.
	if err := x.forget(ctx, org); err != nil {
		return err
	}
	return x.readOrg(ctx, org, "")
}

func (x *Indexer) readOrg(ctx context.Context, org uuid.UUID, cursor string) error {
	piece := newGathered()
	for record, err := range x.Uploads.Records(ctx, org, inventory.Query{After: cursor, Order: inventory.Ascending}) {
		if err != nil {
			return err
		}
		piece.add(record.Record)
		cursor = record.Next
		if !piece.full() {
			continue
		}
		if err := x.record(ctx, org, piece.take(x.Rules), cursor); err != nil {
			return err
		}
	}
	if piece.read == 0 {
		return nil
	}
	return x.record(ctx, org, piece.take(x.Rules), cursor)
}

func (x *Indexer) record(ctx context.Context, org uuid.UUID, piece []Resource, cursor string) error {
	return x.pace.work(ctx, func() error {
		defer x.progress.step()
		return x.turn.alone(ctx, func() error { return x.Index.Record(ctx, org, piece, cursor) })
	})
}

func (x *Indexer) forget(ctx context.Context, org uuid.UUID) error {
	return x.turn.alone(ctx, func() error { return x.Index.Forget(ctx, org) })
}

package resources

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// reach says whose uploads a look is for.
type reach int

const (
	thoseDue  reach = iota // organizations that uploaded something, as far as it is known
	aFewMore               // and some others: another process may have written what they have
	everybody              // all of them
)

// Of the organizations that nothing is known of, a look takes so many, one after the other;
// when it has been through, the next round begins no sooner than roundEvery after the last.
const (
	roundStep  = 4
	roundEvery = 10 * time.Minute
)

// due are the organizations whose uploads are to be looked at. It is safe for concurrent use.
type due struct {
	mu   sync.Mutex
	orgs map[uuid.UUID]struct{}
}

func (d *due) add(orgs ...uuid.UUID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.orgs == nil {
		d.orgs = map[uuid.UUID]struct{}{}
	}
	for _, org := range orgs {
		d.orgs[org] = struct{}{}
	}
}

// drain returns them and forgets them.
func (d *due) drain() map[uuid.UUID]struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	orgs := d.orgs
	d.orgs = nil
	return orgs
}

// round goes through all organizations that have uploads.
type round struct {
	left []uuid.UUID // still to be looked at
	next time.Time   // when another one may begin
}

// Uploaded has the next look read what the organization uploaded.
func (x *Indexer) Uploaded(org uuid.UUID) { x.due.add(org) }

// followUploads reads what was recorded behind the cursors of some organizations: a piece of
// each, so that none waits until all that another one uploaded is read. One whose records
// can't be read stops none of the others. more reports that some have more, and are due.
func (x *Indexer) followUploads(ctx context.Context, r reach) (more bool, failed error) {
	if x.anew {
		r = everybody
	}
	for org := range x.due.drain() {
		has, err := x.followOne(ctx, org)
		more, failed = more || has, cmp.Or(failed, err)
	}
	if r == everybody || r == aFewMore && len(x.round.left) == 0 && !x.Now().Before(x.round.next) {
		if err := x.beginRound(ctx); err != nil {
			return false, err
		}
	}
	count := map[reach]int{aFewMore: min(roundStep, len(x.round.left)), everybody: len(x.round.left)}[r]
	has, err := x.goRound(ctx, count)
	x.anew = x.anew && ctx.Err() != nil // those that could not be read are due
	return more || has, cmp.Or(failed, err)
}

// followOne reads a piece of an organization's uploads. It is due again if it has more, and
// with the next look if they can't be read now.
func (x *Indexer) followOne(ctx context.Context, org uuid.UUID) (more bool, err error) {
	if err = ctx.Err(); err == nil {
		more, err = x.followOrg(ctx, org)
	}
	if x.passes(ctx, org, err) {
		x.failed = append(x.failed, org)
		return false, err
	}
	if more {
		x.due.add(org)
	}
	return more, nil
}

// beginRound lists the organizations, and forgets the uploads of those that have none any
// more.
func (x *Indexer) beginRound(ctx context.Context) error {
	followed, err := x.Index.Followed(ctx)
	if err != nil {
		return err
	}
	x.round.left = nil
	for org, err := range x.Uploads.Organizations(ctx) {
		if fault.Is(err, fault.UploadsOff) {
			break // what was followed before is to go
		}
		if err != nil {
			return err
		}
		x.round.left = append(x.round.left, org)
		delete(followed, org)
	}
	for org := range followed {
		if err := x.forget(ctx, org); err != nil {
			return err
		}
	}
	x.round.next = x.Now().Add(roundEvery)
	return nil
}

// goRound looks at the next so many organizations.
func (x *Indexer) goRound(ctx context.Context, count int) (more bool, failed error) {
	for ; count > 0 && ctx.Err() == nil; count-- {
		org := x.round.left[0]
		x.round.left = x.round.left[1:]
		has, err := x.followOne(ctx, org)
		more, failed = more || has, cmp.Or(failed, err)
	}
	return more, cmp.Or(failed, ctx.Err())
}

// passes reports whether an organization's records can't be read for a reason that passes.
// Damage is logged once, for it stays until an operator mends it.
func (x *Indexer) passes(ctx context.Context, org uuid.UUID, err error) bool {
	if !fault.Is(err, fault.StoreCorrupt) {
		delete(x.damaged, org)
		return err != nil
	}
	if !x.damaged[org] {
		x.Log.ErrorContext(ctx, "an organization's uploads can't be read into the resource index", "org", org, "error", err)
	}
	x.damaged[org] = true
	return false
}

func (x *Indexer) followOrg(ctx context.Context, org uuid.UUID) (more bool, err error) {
	cursor, err := x.Index.Cursor(ctx, org)
	if err != nil {
		return false, err
	}
	more, err = x.readOrg(ctx, org, cursor)
	if !fault.Is(err, fault.CursorInvalid) {
		return more, err
	}
	// The records are not those that were followed: they were restored or replaced.
	if err := x.forget(ctx, org); err != nil {
		return false, err
	}
	return x.readOrg(ctx, org, "")
}

// readOrg reads a piece of what is behind the cursor; more reports that it was a full one.
func (x *Indexer) readOrg(ctx context.Context, org uuid.UUID, cursor string) (more bool, err error) {
	piece := newGathered()
	for record, err := range x.Uploads.Records(ctx, org, inventory.Query{After: cursor, Order: inventory.Ascending}) {
		if err != nil {
			return false, err
		}
		piece.add(record.Record)
		cursor = record.Next
		if more = piece.full(); more {
			break
		}
	}
	if piece.read == 0 {
		return false, nil
	}
	return more, x.record(ctx, org, piece.resources(x.Rules), cursor)
}

// Expire removes from the index what an organization uploaded before a time, at most limit resources of it, and returns
// how many went. It is for records that the store of uploads has no more.
func (x *Indexer) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error) {
	x.looking.Lock() // so that nothing that was read before comes into the index afterwards
	defer x.looking.Unlock()
	err = x.turn.alone(ctx, func() (err error) {
		removed, err = x.Index.Expire(ctx, org, before, limit)
		return err
	})
	return removed, err
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

package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Checkpoint is the last entry that retention has removed from an organization's log: what the first entry that is
// left stands on. The zero Checkpoint is that of a log from which nothing was removed.
type Checkpoint struct {
	Mark
	// Place is the entry's in the chain, and so how many of the chain's entries are gone.
	Place uint64
	At    time.Time
}

// String names all of it. The entry of a removal has it as its Note, so that nobody moves a checkpoint without that
// showing: the entry is in the chain, and whatever signs the chain's head signs it too.
func (c Checkpoint) String() string {
	return fmt.Sprintf("up to %s, number %d of the chain, of %s", c.Mark, c.Place, c.At.UTC().Format(time.RFC3339Nano))
}

// Of returns the entry of the removal that has left the checkpoint.
func (c Checkpoint) Of(org uuid.UUID, removal Event) Event {
	removal.Org, removal.Action, removal.Note = org, AuditPrune, c.String()
	return removal
}

// Prune returns how many of a chain's oldest entries go because they are from before a time, and the checkpoint that
// they leave. An entry that is not as it was written stays, and all behind it: removing it would hide that. It is an
// error where the first one is such a one.
func (c Chain) Prune(oldest []Link, before time.Time) (to Checkpoint, gone int, err error) {
	w := NewWalk(c, Mark{})
	to = c.Removed
	for _, l := range oldest {
		if !l.At.Before(before) {
			break
		}
		if w.Step(l); len(w.breaks) > 0 {
			if gone == 0 {
				err = fault.New(fault.StateCorrupt,
					"old entries of the audit log stay, since the log is not as it was written: %s", w.breaks[0].Says)
			}
			break
		}
		to, gone = Checkpoint{w.at, w.place, l.At}, gone+1
	}
	return to, gone, err
}

// Pruned is a log of which old entries can be removed. A state.Store is one.
type Pruned interface {
	PruneEvents(ctx context.Context, org uuid.UUID, before time.Time, limit int, event Event) (removed int, err error)
}

// prunePiece is how many entries are removed at once: others write between the pieces.
const prunePiece = 200

// Retention removes from the log what organizations don't keep of it.
type Retention struct {
	Log  Pruned
	Orgs func() []uuid.UUID
	// Keep is for how long an organization's entries are kept; 0 for ever.
	Keep func(org uuid.UUID) time.Duration
	Now  func() time.Time
}

// Sweep removes what is too old, in small pieces, and can be stopped at any point. Entries go by whole days (in UTC):
// each removal is an entry itself. One organization's log that can't be pruned keeps no other from it.
func (r Retention) Sweep(ctx context.Context) error {
	var errs []error
	for _, org := range r.Orgs() {
		keep := r.Keep(org)
		if keep <= 0 {
			continue
		}
		now := r.Now().UTC()
		if err := r.prune(ctx, org, now.Add(-keep).Truncate(24*time.Hour), now); err != nil {
			errs = append(errs, fmt.Errorf("the audit log of %s: %w", org, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

func (r Retention) prune(ctx context.Context, org uuid.UUID, before, now time.Time) error {
	for {
		removed, err := r.Log.PruneEvents(ctx, org, before, prunePiece,
			Event{At: now.Truncate(time.Microsecond), Org: org, Actor: Server(), Action: AuditPrune})
		if err != nil || removed < prunePiece {
			return err
		}
	}
}

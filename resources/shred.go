package resources

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Shred forgets everything of an organization, in pieces of at most limit resources, and returns how
// many things went. It is for one whose states and uploads are destroyed; when it returns 0, nothing of the
// organization is left in the index's files.
func (x *Indexer) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	x.looking.Lock() // so that nothing that was read before comes into the index afterwards
	defer x.looking.Unlock()
	err = x.turn.alone(ctx, func() (err error) {
		removed, err = x.Index.Shred(ctx, org, limit)
		return err
	})
	if err != nil || removed > 0 {
		return removed, err
	}
	if err := x.blankPosition(ctx); err != nil {
		return 0, err
	}
	return 0, x.scrub(ctx)
}

// blankPosition forgets what tells the position's event from others, if that was of an organization
// which was shredded.
func (x *Indexer) blankPosition(ctx context.Context) error {
	p, err := x.Index.Position(ctx)
	if err != nil || p.Sequence == 0 {
		return err
	}
	events, err := x.States.Feed(ctx, p.Sequence-1, 1)
	if err != nil || len(events) == 0 || !isWhatWas(events[0], p) {
		return err
	}
	p.Event = x.positionAt(events[0]).Event
	return x.turn.alone(ctx, func() error { return x.Index.Advance(ctx, p) })
}

// isWhatWas reports whether the event may be what is left of the one at the position: its time alone.
func isWhatWas(e audit.Event, p Position) bool {
	return e.Sequence == p.Sequence && e.IsBlank() && strings.Contains(p.Event, " "+e.At.UTC().String()+" ")
}

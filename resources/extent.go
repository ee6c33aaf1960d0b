package resources

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// Journal is the audit log of a state.Store.
type Journal interface {
	Events(ctx context.Context, org uuid.UUID, q audit.Query) ([]audit.Event, error)
	Record(ctx context.Context, event audit.Event) error
}

// catchUpWait is how long a search waits for what was written before it. Small states take
// milliseconds to be read, one of 100 MB some seconds.
const catchUpWait = 2 * time.Second

// lacking says what is not in the index yet.
type lacking struct{ states, uploads bool }

func (l lacking) any() bool { return l.states || l.uploads }

// extent is looked at before the answer is, so that it never says more than is true. An
// index that is behind is waited for, for a moment; if it still is, the scope returned
// leaves out what is gone.
func (s *Service) extent(ctx context.Context, org uuid.UUID, scope Scope) (Extent, Scope, error) {
	e := Extent{States: scope.AnyState, Uploads: scope.Uploads, Limited: scope.States != nil}
	lacks, err := s.awaited(ctx, org, scope)
	if err != nil {
		return e, scope, err
	}
	if e.Behind = lacks.any(); lacks.states {
		if scope, err = s.shown(ctx, org, scope); err != nil {
			return e, scope, err
		}
	}
	e.Unread, err = s.Index.Unread(ctx, org, scope, maxUnread)
	return e, scope, err
}

// awaited gives the indexer time for what the organization wrote before: until that is in
// the index, or the indexer has had a look at it, or the time is up.
func (s *Service) awaited(ctx context.Context, org uuid.UUID, scope Scope) (lacking, error) {
	look := s.Indexer.progress.next()
	timer := time.NewTimer(catchUpWait)
	defer timer.Stop()
	for {
		moved := s.Indexer.progress.after(look)
		lacks, err := s.lacks(ctx, org, scope)
		if err != nil || !lacks.any() || !s.Indexer.Wake() || moved == nil {
			return lacks, err
		}
		select {
		case <-moved:
		case <-timer.C:
			return lacks, nil
		case <-ctx.Done():
			return lacks, ctx.Err()
		}
	}
}

// lacks looks at the organization's own log and records only: another one's writes are
// none of the caller's business.
func (s *Service) lacks(ctx context.Context, org uuid.UUID, scope Scope) (l lacking, err error) {
	if scope.AnyState {
		if l.states, err = s.statesLack(ctx, org); err != nil {
			return l, err
		}
	}
	if scope.Uploads {
		l.uploads, err = s.uploadsLack(ctx, org)
	}
	return l, err
}

func (s *Service) statesLack(ctx context.Context, org uuid.UUID) (bool, error) {
	if !s.Indexer.knownFeed.Load() {
		return true, nil // it may be the index of another store
	}
	p, err := s.Indexer.Index.Position(ctx)
	if err != nil || !p.Complete {
		return true, err
	}
	newest, err := s.Store.Events(ctx, org, audit.Query{Limit: 1})
	return len(newest) > 0 && newest[0].Sequence > p.Sequence, err
}

func (s *Service) uploadsLack(ctx context.Context, org uuid.UUID) (bool, error) {
	cursor, err := s.Index.Cursor(ctx, org)
	if err != nil {
		return false, err
	}
	for _, err = range s.Uploads.Records(ctx, org, inventory.Query{After: cursor}) {
		return !fault.Is(err, fault.UploadsOff), nil // a record, or an error that keeps records back
	}
	return false, nil
}

package resources

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

// Events is the audit log of a state.Store.
type Events interface {
	Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error)
}

// catchUpWait is how long a search waits for what was written before it. Small states take
// milliseconds to be read, one of 100 MB some seconds.
const catchUpWait = 2 * time.Second

// lacking says what is not in the index yet.
type lacking struct{ states, uploads bool }

func (l lacking) any() bool { return l.states || l.uploads }

// extent is looked at before the answer is, so that it never says more than is true. asked
// is what is asked of what the caller may see. An index that is behind in that is waited
// for, for a moment; if it still is, the scope returned leaves out what is gone.
func (s *Service) extent(ctx context.Context, org uuid.UUID, may, asked Scope) (Extent, Scope, error) {
	e := Extent{States: may.AnyState, Uploads: may.Uploads, Limited: may.States != nil}
	lacks, err := s.awaited(ctx, org, asked)
	if err != nil {
		return e, asked, err
	}
	if e.Behind = lacks.any(); lacks.states {
		if asked, err = s.shown(ctx, org, asked); err != nil {
			return e, asked, err
		}
	}
	e.Unread, err = s.Index.Unread(ctx, org, asked, MaxUnread+1)
	if e.UnreadMore = len(e.Unread) > MaxUnread; e.UnreadMore {
		e.Unread = e.Unread[:MaxUnread]
	}
	return e, asked, err
}

// searched narrows a scope to what a search can find.
func (s Scope) searched(q Query) Scope {
	if q.Source == FromUpload {
		return Scope{Uploads: s.Uploads}
	}
	s.Uploads = s.Uploads && q.Source == "" && q.State == ""
	if q.State != "" {
		s = s.only(q.State)
	}
	return s
}

// only narrows a scope to one state.
func (s Scope) only(name state.Name) Scope {
	inner := s.States
	s.States = func(other string) bool { return other == string(name) && (inner == nil || inner(other)) }
	return s
}

// readable returns why a state that is asked for by its name can't be read; nil if it can,
// or for no name.
func (s *Service) readable(ctx context.Context, org uuid.UUID, scope Scope, name state.Name) error {
	if name == "" || !scope.AnyState {
		return nil
	}
	if scope.States != nil && !scope.States(string(name)) {
		return nil // what is not to be seen has no reasons
	}
	held, err := s.Indexer.Index.Holding(ctx, state.Ref{Org: org, Name: name})
	if err != nil || held.Unread == "" {
		return err
	}
	return unreadable(held.Unread, "the newest version of this state")
}

func unreadable(code fault.Code, what string) error {
	if code == fault.StateEncrypted {
		return fault.New(code, "encrypted by the client: the server has no key to look into %s", what)
	}
	return fault.New(code, "%s can't be looked into", what)
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
		if err != nil || !lacks.any() || !s.wake(org, lacks) || moved == nil {
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

// wake has the indexer look at what the index lacks. It reports whether it will.
func (s *Service) wake(org uuid.UUID, l lacking) bool {
	if l.uploads {
		return s.Indexer.Wake(org)
	}
	return s.Indexer.Wake()
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
	p, err := s.Indexer.Index.Position(ctx)
	if err != nil || !p.Complete {
		return true, err
	}
	for q := (audit.Query{Limit: 1}); ; {
		page, err := s.Events.Events(ctx, org, q)
		if err != nil || len(page.Events) > 0 {
			return err == nil && page.Events[0].Sequence > p.Sequence, err
		}
		if q.Before = page.Next; q.Before <= p.Sequence+1 { // nothing is there, or nothing newer
			return false, nil
		}
	}
}

func (s *Service) uploadsLack(ctx context.Context, org uuid.UUID) (bool, error) {
	cursor, err := s.Index.Cursor(ctx, org)
	if err != nil {
		return false, err
	}
	hold := s.Memory.Hold(budget.Share{Org: org})
	defer hold.Release()
	memory := func(bytes int64) error { return hold.AcquireNow(max(bytes-hold.Amount(), 0)) }
	for _, err = range s.Uploads.Records(ctx, org, inventory.Query{After: cursor, Memory: memory}) {
		return !fault.Is(err, fault.UploadsOff), nil // a record, or an error that keeps records back
	}
	return false, nil
}

package resources

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// Journal is the audit log of a state.Store.
type Journal interface {
	Events(ctx context.Context, org uuid.UUID, q audit.Query) ([]audit.Event, error)
	Record(ctx context.Context, event audit.Event) error
}

// extent is looked at before the answer is, so that it never says more than is true. An
// index that is behind is told to go on.
func (s *Service) extent(ctx context.Context, p auth.Principal, scope Scope) (Extent, error) {
	e := Extent{States: scope.AnyState, Uploads: scope.Uploads, Limited: scope.States != nil}
	behind, err := s.behind(ctx, p.Org, scope)
	if err != nil {
		return e, err
	}
	if e.Behind = behind; behind {
		s.Indexer.Wake()
	}
	e.Unread, err = s.Index.Unread(ctx, p.Org, scope, maxUnread)
	return e, err
}

// behind looks at the organization's own log and records only: another one's writes are
// none of the caller's business.
func (s *Service) behind(ctx context.Context, org uuid.UUID, scope Scope) (bool, error) {
	p, err := s.Indexer.Index.Position(ctx)
	if err != nil {
		return false, err
	}
	if scope.AnyState {
		newest, err := s.Store.Events(ctx, org, audit.Query{Limit: 1})
		if err != nil || !p.Complete || len(newest) > 0 && newest[0].Sequence > p.Sequence {
			return true, err
		}
	}
	if !scope.Uploads {
		return false, nil
	}
	return s.uploadsBehind(ctx, org)
}

func (s *Service) uploadsBehind(ctx context.Context, org uuid.UUID) (bool, error) {
	cursor, err := s.Index.Cursor(ctx, org)
	if err != nil {
		return false, err
	}
	for _, err = range s.Uploads.Records(ctx, org, inventory.Query{After: cursor}) {
		return !fault.Is(err, fault.UploadsOff), nil // a record, or an error that keeps records back
	}
	return false, nil
}

package resources

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// shown narrows a scope to states of which the index has nothing that is gone. It is for
// an index that is behind: a state may have been deleted since, or the version purged that
// the index has. What was written since is not looked for.
func (s *Service) shown(ctx context.Context, org uuid.UUID, scope Scope) (Scope, error) {
	gone := map[string]bool{}
	for after := (state.Ref{Org: org}); ; {
		held, err := s.Indexer.Index.Holdings(ctx, after, listPage)
		if err != nil {
			return Scope{}, err
		}
		for _, one := range held {
			if one.Ref.Org != org {
				return scope.without(gone), nil
			}
			if scope.States != nil && !scope.States(string(one.Ref.Name)) {
				continue // it is not shown anyway
			}
			if gone[string(one.Ref.Name)], err = s.gone(ctx, one); err != nil {
				return Scope{}, err
			}
		}
		if len(held) == 0 {
			return scope.without(gone), nil
		}
		after = held[len(held)-1].Ref
	}
}

// gone reports whether the store has no more what the index has of a state.
func (s *Service) gone(ctx context.Context, held Held) (bool, error) {
	head, err := s.Indexer.States.Head(ctx, held.Ref)
	if err != nil || !head.Exists() {
		return true, err
	}
	v := head.Version
	if v.Number > held.Version {
		older, err := s.Indexer.States.Versions(ctx, held.Ref, held.Version+1, 1)
		if err != nil || len(older) == 0 {
			return true, err
		}
		v = older[0]
	}
	return v.Number != held.Version || v.Digest != held.Digest || v.Purged, nil
}

// without leaves out these states.
func (s Scope) without(gone map[string]bool) Scope {
	inner := s.States
	s.States = func(name string) bool { return !gone[name] && (inner == nil || inner(name)) }
	return s
}

package layers

import (
	"context"
	"errors"
)

// overtake looks at the branch while a run waits for a person. A newer commit that changes the layer is what people
// are to say yes to instead: the run is stale, and when that is known, the commit is planned. What is found is stored
// first, so whoever comes behind a kill ends the run all the same. So it is where the branch is gone. A repository that
// can't be read leaves the run.
func (s *Service) overtake(ctx context.Context, seen Layer, run string) (overtaken bool, err error) {
	n, trouble := s.look(ctx, seen)
	if errors.Is(trouble, ErrNoBranch) {
		return true, s.Runs.Supersede(ctx, seen.Org, run, "the repository has no branch "+seen.Settings.Branch+" any more")
	}
	now := seen
	if trouble == nil && n.head.ID != seen.Facts.Branch.ID {
		now, err = s.Store.Update(ctx, seen.Ref, func(l *Layer) (Change, error) {
			if l == nil || l.Run == nil || l.Run.Key != seen.Run.Key || l.Facts.Branch.ID != seen.Facts.Branch.ID {
				return Change{}, nil // somebody else was faster: it is looked at again
			}
			l.hear(n)
			l.judge(s.clock())
			return Change{Put: l}, nil
		})
		if err != nil {
			return false, err
		}
	}
	if now.Run == nil || !now.Run.overtaken(now.Facts) {
		return false, nil
	}
	return true, s.Runs.Supersede(ctx, seen.Org, run, "the commit "+short(now.Facts.Relevant.ID)+
		" is there since, and changes the layer")
}

// overtaken reports whether a newer commit changes the layer than when the run was begun.
func (b Begun) overtaken(f Facts) bool {
	return b.Relevant != "" && f.Relevant.ID != "" && b.Relevant != f.Relevant.ID
}

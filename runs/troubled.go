package runs

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Troubled returns the workspaces in a trouble since a time, of those that the caller may see, and the
// runs of the newest ones that say so, up to a limit.
func (s *Service) Troubled(ctx context.Context, p auth.Principal, trouble Trouble, since time.Time,
	limit int) (all []Troubled, newest []Run, err error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil {
		return nil, nil, err
	}
	if all, err = s.Store.Troubled(ctx, p.Org, trouble, since); err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(one Troubled) bool { return !p.States.Match(one.Workspace) })
	for _, one := range all[:min(len(all), limit)] {
		run, err := s.Store.Run(ctx, Ref{p.Org, one.Run})
		if fault.Is(err, fault.RunNotFound) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		newest = append(newest, s.seen(p, run))
	}
	return all, newest, nil
}

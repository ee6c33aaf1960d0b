package state

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// pinned returns the version that a run's plan is pinned to, whatever became of the state
// since: also when there is a newer one, and when the state is deleted. What is pinned as
// absent is absent, even if somebody has written it meanwhile. A version that is gone is
// never taken for an absent state: the plan would then be to create everything anew.
func (s *Service) pinned(ctx context.Context, p auth.Principal, name Name) (Loaded, error) {
	ref, err := s.authorize(ctx, p, auth.ReadPinned, name)
	if err != nil {
		return Loaded{}, err
	}
	number := p.Run.Version
	if number == 0 {
		return Loaded{}, fault.New(fault.StateNotFound, "there was no such state when the plan was pinned")
	}
	loaded, err := s.given(ctx, p, ref, number)
	if fault.Is(err, fault.StateNotFound) || fault.Is(err, fault.VersionNotFound) || fault.Is(err, fault.VersionPurged) {
		err = fault.Wrap(err, fault.PinGone,
			"version %d, which the plan of run %s is pinned to, is not there any more; plan anew", number, p.Run.ID)
	}
	return loaded, err
}

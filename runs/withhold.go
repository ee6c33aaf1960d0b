package runs

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/api"
)

// withholds reports whether the run's code is somebody else's: it sees no sensitive variable, no outputs of other
// states, and not which of the values are words of its configuration.
func (r Run) withholds() bool { return r.Order.Pull != nil && r.Order.Pull.Withhold }

// inputsOf returns the variables that a run gets, and those of its workspace: a run of code that may not see the
// sensitive ones gets the others. It is masked by all of them, since they may be in the state, which it reads.
func (s *Service) inputsOf(ctx context.Context, run Run) (given, all Inputs, err error) {
	all, err = s.Workspaces.Inputs(ctx, run.Org, run.Workspace)
	if err != nil || !run.withholds() {
		return all, all, err
	}
	given = all
	sensitive := func(v api.Input) bool { return v.Sensitive }
	given.Variables = slices.DeleteFunc(slices.Clone(all.Variables), sensitive)
	given.Environment = slices.DeleteFunc(slices.Clone(all.Environment), sensitive)
	given.Digest += " withheld"
	return given, all, nil
}

package runs

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/api"
)

// inputsOf returns the variables that a run gets: those of its workspace, without the sensitive ones where
// the run is of code that may not see them.
func (s *Service) inputsOf(ctx context.Context, run Run) (Inputs, error) {
	inputs, err := s.Workspaces.Inputs(ctx, run.Org, run.Workspace)
	if err != nil || run.Order.Pull == nil || !run.Order.Pull.Withhold {
		return inputs, err
	}
	sensitive := func(v api.Input) bool { return v.Sensitive }
	inputs.Variables = slices.DeleteFunc(slices.Clone(inputs.Variables), sensitive)
	inputs.Environment = slices.DeleteFunc(slices.Clone(inputs.Environment), sensitive)
	inputs.Digest += " withheld"
	return inputs, nil
}

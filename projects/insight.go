package projects

import (
	"context"
	"encoding/json"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// maxInsight is how long an insight in an answer may be.
const maxInsight = 1 << 20

// Insights say what the plans of runs mean.
type Insights interface {
	// OfRun returns an api.Insight as JSON, for whoever may read the run.
	OfRun(ctx context.Context, p auth.Principal, id string) ([]byte, error)
}

// insight returns what a run's plan means; nil where there is no plan, and where it is too large to be looked at
// or can't be now: the answer has all the rest of it.
func (s *Service) insight(ctx context.Context, p auth.Principal, run runs.Run) (*api.ProjectInsight, error) {
	if s.Insights == nil {
		return nil, nil
	}
	raw, err := s.Insights.OfRun(ctx, p, run.ID)
	for _, without := range []fault.Code{fault.RunFileNotFound, fault.PlanJSONInvalid, fault.PlanJSONTooLarge,
		fault.Overloaded} {
		if fault.Is(err, without) {
			return nil, nil
		}
	}
	if err != nil || len(raw) > maxInsight {
		return nil, err
	}
	var said api.ProjectInsight
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, fault.Wrap(err, fault.StoreCorrupt, "what the plan of run %s means can't be read", run.ID)
	}
	return &said, nil
}

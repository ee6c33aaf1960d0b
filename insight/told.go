package insight

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs"
)

// What a service outside is told at most of each list.
const (
	maxTold     = 100
	maxToldEach = 20 // of the attributes of one change
)

// Told implements runs.Insights.
func (s *Service) Told(ctx context.Context, plan runs.PlanJSON, by runs.Policies) (*api.Insight, error) {
	asked, _ := by.(inForce)
	raw, err := s.of(ctx, s.gating, plan, asked.InForce)
	if err == nil {
		raw, err = shown(plan, raw)
	}
	if err != nil {
		return nil, err
	}
	all := &api.Insight{}
	if err := json.Unmarshal(raw, all); err != nil {
		return nil, err
	}
	told(all)
	return all, nil
}

// told takes out of an insight what may have a value of the plan, which are descriptions that rules make, and what
// is beyond the bounds.
func told(all *api.Insight) {
	for i := range all.Findings {
		all.Findings[i].Description = ""
		if all.Findings[i].Tool != "" { // whose words are whatever a step of the run has left
			all.Findings[i].Title, all.Findings[i].Recommendation, all.Findings[i].Link = "", "", ""
		}
	}
	for i := range all.Broken {
		all.Broken[i].Reason = ""
	}
	all.Security.Issues = []api.InsightIssue{} // which are the findings once more
	all.Summary = summary(*all)
	for _, list := range []*[]api.InsightChange{&all.Facts.Changes, &all.Facts.Drift} {
		*list = least(all, *list, maxTold)
		for i := range *list {
			c := &(*list)[i]
			c.Because, c.Attributes = least(all, c.Because, maxToldEach), least(all, c.Attributes, maxToldEach)
			c.Unknown = least(all, c.Unknown, maxToldEach)
		}
	}
	// What others have found, however much of it there is, takes no place of our own.
	slices.SortStableFunc(all.Findings, func(a, b api.InsightFinding) int {
		return cmp.Compare(min(len(a.Tool), 1), min(len(b.Tool), 1))
	})
	all.Findings, all.Broken = least(all, all.Findings, maxTold), least(all, all.Broken, maxTold)
	all.Facts.Irreversible = least(all, all.Facts.Irreversible, maxTold)
	all.Facts.Outputs = least(all, all.Facts.Outputs, maxTold)
	all.Costs.Estimated = least(all, all.Costs.Estimated, maxTold)
	all.Costs.Unpriced = least(all, all.Costs.Unpriced, maxTold)
}

// least cuts a list, and says in the insight that it is cut.
func least[T any](all *api.Insight, list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	all.Cut = true
	return list[:most]
}

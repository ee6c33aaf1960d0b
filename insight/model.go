package insight

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/internal/model"
)

// WithModel adds to an insight what a model says of it. Whatever that is, facts, findings, costs that have a price and
// the summary stay as they are, and nothing that needs approval needs it less.
func WithModel(ctx context.Context, all *api.Insight, client *model.Client, name string) {
	asked := *all
	said, err := client.Ask(ctx, asked)
	if err != nil {
		all.Model = &api.InsightModel{Model: name, Error: err.Error()}
		return
	}
	all.Model = said
	all.Costs.AIEstimated = append(slices.Clone(all.Costs.AIEstimated), said.Costs...)
	if n := graveOfModel(*all, rules.High); n > 0 {
		all.Security.ShouldApprove = true
		all.Reasons = append(slices.Clone(all.Reasons), modelText(n, rules.High))
	}
}

// graveOfModel counts what the model finds of a severity, or a graver one.
func graveOfModel(all api.Insight, severity string) (n int) {
	if all.Model == nil || severity == "" {
		return 0
	}
	for _, f := range all.Model.Findings {
		if rules.AtLeast(f.Severity, severity) {
			n++
		}
	}
	return n
}

// gravestOfModel is the severity of the gravest finding, where a gate is held by one.
func gravestOfModel(all api.Insight) string {
	if graveOfModel(all, rules.Critical) > 0 {
		return rules.Critical
	}
	return rules.High
}

// modelText is for so many findings of the model.
func modelText(n int, least string) string { return findingsText(n, least) + " by the model" }

package insight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/internal/when"
	"github.com/holdfast/holdfast/runs"
)

// conditionHolds says whether the workspace's own condition holds the plan. One that can't be asked does, and says so.
func conditionHolds(ctx context.Context, all api.Insight, text string,
	hold func(gate, reason string, details []string)) {
	if text == "" {
		return
	}
	holds, err := askCondition(ctx, all, text)
	switch {
	case err != nil:
		hold(runs.GateCondition, fmt.Sprintf("its condition could not be asked: %s", err), []string{text})
	case holds:
		hold(runs.GateCondition, "its condition holds: "+text, nil)
	}
}

func askCondition(ctx context.Context, all api.Insight, text string) (bool, error) {
	condition, err := when.Compile(text)
	if err != nil {
		return false, err
	}
	plan, err := planOf(all)
	if err != nil {
		return false, err
	}
	return condition.Holds(ctx, plan)
}

// planOf is what conditions may ask about an insight.
func planOf(all api.Insight) (p when.Plan, err error) {
	n := all.Facts.Counts
	p = when.Plan{
		Create: n.Add - n.Replace, Update: n.Change, Replace: n.Replace, Delete: n.Destroy - n.Replace, Import: n.Import,
		Forget: n.Forget, Move: n.Move, Drift: n.Drift, Outputs: n.Outputs, Irreversible: len(all.Facts.Irreversible),
		Unknown: all.Facts.Unknown, Unpriced: len(all.Costs.Unpriced), Broken: len(all.Broken),
	}
	if !all.Cut {
		p.Types = typesOf(all.Facts.Changes)
	}
	for _, f := range all.Findings {
		if f.Waived != nil || f.Standing {
			continue
		}
		switch f.Severity {
		case rules.Critical:
			p.Critical++
		case rules.High:
			p.High++
		case rules.Medium:
			p.Medium++
		case rules.Low:
			p.Low++
		}
	}
	if p.Delta, err = cost.ParseDelta(all.Costs.DeltaMonthly); err != nil {
		return p, err
	}
	p.Total, err = cost.ParseDelta("+" + strings.TrimPrefix(all.Costs.TotalMonthly, "+"))
	return p, err
}

// typesOf are the types of what changes, each once; none for none.
func typesOf(changes []api.InsightChange) []string {
	list := []string{}
	for _, c := range changes {
		list = append(list, c.Type)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

package pulls

import (
	"slices"

	"github.com/holdfast/holdfast/repos/forge"
)

// maxLayers is how many layers of one pull request are planned.
const maxLayers = 100

// See is the pull request as its forge shows it now. What was planned of an earlier head is stale, and
// what somebody has allowed of it does not hold for another commit.
func (p Pull) See(now forge.PullRequest) Pull {
	moved := p.At.Head != "" && (p.At.Head != now.Head || p.At.BaseRef != now.BaseRef)
	p.At = now
	if moved {
		p.Looked, p.Compared, p.Lacks, p.Onto, p.Apart = "", "", 0, "", ""
		p.Plans = slices.Clone(p.Plans)
		for i := range p.Plans {
			p.Plans[i] = p.Plans[i].outdated()
		}
	}
	if p.Allowed != nil && p.Allowed.Commit != now.Head {
		p.Allowed = nil
	}
	p.Closed = p.Closed && now.State != forge.Open
	return p
}

// moved makes plans of the head stale whose layers are elsewhere by now, or gone.
func (p Pull) moved(known map[string]string) Pull {
	p.Plans = slices.Clone(p.Plans)
	for i, plan := range p.Plans {
		if plan.Of != "" && plan.Of != known[plan.Layer] && plan.Status != Stale && !plan.applying() {
			p.Plans[i] = plan.outdated()
		}
	}
	return p
}

// outdated is the plan once the pull request is elsewhere. An apply that goes on is followed to its end.
func (p Plan) outdated() Plan {
	p.Told = ""
	p.Status = Stale
	if p.Apply != nil && p.Apply.Status == Waiting {
		return p.notApplied("the pull request has another commit by now")
	}
	return p
}

// notApplied is the plan when the apply that was asked for is not begun any more.
func (p Plan) notApplied(why string) Plan {
	applied := *p.Apply
	applied.Status, applied.Reason = Stale, why
	p.Apply = &applied
	return p
}

// Affects takes down which layers the head affects. Stale plans of these layers make room; those of
// others stay, as stale ones, until the next head.
func (p Pull) Affects(layers []string, every bool) Pull {
	p.Looked, p.Every = p.At.Head, every
	slices.Sort(layers)
	layers = slices.Compact(layers)
	p.Left = max(0, len(layers)-maxLayers)
	var kept []Plan
	for _, old := range p.Plans {
		if old.Commit == p.At.Head && slices.Contains(layers, old.Layer) { // it came back to this head
			if old.Status == Stale {
				old = Plan{Layer: old.Layer, Commit: old.Commit, Round: old.Round + 1, Status: Waiting}
			}
			kept = append(kept, old)
		} else if old.applying() {
			kept = append(kept, old)
		}
	}
	for _, layer := range layers[:min(len(layers), maxLayers)] {
		if !slices.ContainsFunc(kept, func(k Plan) bool { return k.Layer == layer && k.Commit == p.At.Head }) {
			kept = append(kept, Plan{Layer: layer, Commit: p.At.Head, Status: Waiting})
		}
	}
	slices.SortStableFunc(kept, func(a, b Plan) int { return compareLayers(a.Layer, b.Layer) })
	p.Plans = kept
	return p
}

func compareLayers(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// applying reports whether an apply of the plan goes on.
func (p Plan) applying() bool { return p.Apply != nil && p.Apply.Run != "" && !p.Apply.Status.Ended() }

// MayRun reports whether something of the head may be executed now, and why not.
func (p Pull) MayRun(s Settings) (bool, string) {
	switch {
	case s.Off():
		return false, "pull requests of this repository are left alone"
	case p.At.State != forge.Open:
		return false, "the pull request is " + string(p.At.State)
	case s.Branch != "" && p.At.BaseRef != s.Branch:
		return false, "it is to be merged into another branch than " + s.Branch
	case p.At.Fork && (p.Allowed == nil || p.Allowed.Commit != p.At.Head):
		return false, "it comes from a fork: somebody who may " + s.planNeeds().String() +
			" here has to look at it, and to comment `holdfast plan " + short(p.At.Head) + "`"
	}
	return true, ""
}

// mayApply reports whether what somebody has asked to be applied may be begun still, and why not.
func (p Pull) mayApply(s Settings) (bool, string) {
	if need(s.Apply, forge.None) == forge.None {
		return false, noApplies
	}
	return p.MayRun(s)
}

// mayApplyPlan is mayApply of a plan: one that lacks commits of the base would undo what these have done.
func (p Pull) mayApplyPlan(plan Plan, s Settings) (bool, string) {
	if plan.Behind != "" {
		return false, "the branch lacks commits of " + p.At.BaseRef + " that change " + plan.Layer + " (" + plan.Behind +
			"): merge them into it, and it is planned anew"
	}
	return p.mayApply(s)
}

// ontoBase has the plans of the head that lack commits of the base be made of the merge with it, or of the head alone
// where that is planned by now: those that are not begun, and anew those that have ended. It returns those that change,
// as they were. What is applied, or was, stays.
func (p Pull) ontoBase() (next Pull, were []Plan) {
	p.Plans = slices.Clone(p.Plans)
	for i, plan := range p.Plans {
		switch {
		case plan.Commit != p.At.Head || plan.Status == Stale || p.Onto == "" && plan.Onto == "":
		case plan.Status == Waiting && plan.Run == "":
			if plan.Onto != p.Onto || plan.Behind != "" {
				were = append(were, plan)
			}
			p.Plans[i].Onto, p.Plans[i].Behind = p.Onto, ""
		case plan.Behind != "" && plan.Status.Ended() && (plan.Apply == nil || plan.Apply.Status.Ended() &&
			plan.Apply.Status != Done):
			were = append(were, plan)
			p.Plans[i] = plan.anew(p.Onto)
		}
	}
	if len(were) > 0 && p.Onto == "" {
		p.Compared = "" // what the head alone lacks is another matter
	}
	return p, were
}

// anew is the same plan before it is begun, in its next round.
func (p Plan) anew(onto string) Plan {
	return Plan{Layer: p.Layer, Commit: p.Commit, Of: p.Of, Onto: onto, Round: p.Round + 1, Status: Waiting}
}

// mayGoOn reports whether an apply whose run is made may be begun still, and why not: what is merged may.
func (p Pull) mayGoOn(plan Plan, s Settings) (bool, string) {
	if p.At.State == forge.Merged && !s.Off() {
		return true, ""
	}
	return p.mayApplyPlan(plan, s)
}

// noApplies is why no command applies anything.
const noApplies = "the repository's settings let no comment apply anything"

// ToPlan are the layers whose plan is to be begun now.
func (p Pull) ToPlan(s Settings) (layers []string) {
	if may, _ := p.MayRun(s); !may {
		return nil
	}
	for _, plan := range p.Plans {
		if plan.Commit == p.At.Head && plan.Status == Waiting && plan.Run == "" {
			layers = append(layers, plan.Layer)
		}
	}
	return layers
}

// Secret reports whether plans of the head get the sensitive variables. Those of forks never do, whoever
// has allowed them.
func (p Pull) Secret() bool { return !p.At.Fork }

// Open reports whether something goes on that has to be looked at again soon.
func (p Pull) Open() bool {
	return slices.ContainsFunc(p.Plans, func(plan Plan) bool {
		return plan.Status == Running || plan.Apply != nil && !plan.Apply.Status.Ended()
	})
}

// plan is the index of a layer's plan of the head; -1 for none.
func (p Pull) plan(layer string) int {
	return slices.IndexFunc(p.Plans, func(plan Plan) bool { return plan.Layer == layer && plan.Commit == p.At.Head })
}

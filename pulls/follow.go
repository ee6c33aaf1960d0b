package pulls

import (
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/repos/forge"
)

// RunFact is what a run has come to, as far as pull requests ask.
type RunFact struct {
	ID     string
	Ended  bool
	Good   bool // it has ended well
	Decide bool // it waits for people
	// Confirmed says that people are done with it, and that nobody has begun to apply it.
	Confirmed bool
	Reason    string
	Counts    *api.RunCounts
	Changes   string // digest of what it changes
	Base      string // digest of the state that it planned on
	Config    string // the snapshot
	Digest    string // of its pin
}

// Planned is the plan with what its run has come to.
func (p Plan) Planned(run RunFact) Plan {
	if p.Status == Stale {
		return p
	}
	p.Status, p.Reason = Running, run.Reason
	switch {
	case run.Ended && run.Good:
		p.Status, p.Reason = Done, ""
		p.Counts, p.Changes, p.Base, p.Digest = run.Counts, run.Changes, run.Base, run.Digest
	case run.Ended:
		p.Status = Failed
	}
	return p
}

// Verdict is what is to be done with a run that applies a plan.
type Verdict int

// The verdicts.
const (
	Wait    Verdict = iota
	Confirm         // it is exactly what somebody has asked to be applied
	Decline         // it is something else
)

// Judge looks at a run that was made to apply the plan. head is where the pull request is now, and barred is why
// nothing of it may be applied any more; empty where it may. What has begun to be applied goes on.
func (p Plan) Judge(run RunFact, head, barred string) (Plan, Verdict) {
	applied := *p.Apply
	applied.Run = run.ID
	verdict := Wait
	switch {
	case run.Ended && run.Good:
		applied.Status, applied.Reason = Done, ""
	case run.Ended:
		applied.Status, applied.Reason = Failed, run.Reason
	case !run.Decide && !run.Confirmed:
		applied.Status, applied.Reason = Running, run.Reason
	case barred != "":
		applied.Status, applied.Reason, verdict = Stale, barred, Decline
	case p.Commit != head:
		applied.Status, applied.Reason, verdict = Stale, "the pull request has another commit by now", Decline
	case run.Confirmed:
		applied.Status, applied.Reason = Running, run.Reason
	case run.Changes != p.Changes || run.Config != p.Snapshot || run.Base != p.Base:
		applied.Status, verdict = Undone, Decline
		applied.Reason = "what it would do now is not what the plan said; have it planned again"
	default:
		applied.Status, applied.Reason, verdict = Deciding, run.Reason, Confirm
	}
	p.Apply = &applied
	return p, verdict
}

// StatusOf is what the forge is told of a plan's commit. link leads to the run.
func (p Pull) StatusOf(plan Plan, s Settings, link string) forge.Status {
	told := forge.Status{Context: "holdfast/" + plan.Layer, State: forge.Pending, Link: link}
	may, why := p.MayRun(s)
	switch {
	case plan.Apply != nil && plan.Apply.Status != Stale:
		told.State, told.Description = applyState(*plan.Apply)
	case plan.Status == Waiting && !may:
		told.Description = strings.ReplaceAll(why, "`", "")
	case plan.Status == Waiting:
		told.Description = "waits for its turn"
	case plan.Status == Running:
		told.Description = "is planned"
	case plan.Status == Done:
		told.State, told.Description = forge.Success, countsOf(plan.Counts)
		if plan.Behind != "" {
			told.Description += " Behind its base."
		}
	default:
		told.State, told.Description = forge.Failure, "the plan failed: "+plan.Reason
	}
	return told
}

func applyState(a Apply) (forge.StatusState, string) {
	switch a.Status {
	case Done:
		return forge.Success, "applied"
	case Failed:
		return forge.Failure, "the apply failed: " + a.Reason
	case Undone:
		return forge.Failure, "nothing was applied: " + a.Reason
	case Deciding:
		return forge.Pending, "the apply waits for approval"
	}
	return forge.Pending, "is applied"
}

package layers

import (
	"strconv"
	"time"
)

// Action is what is to be done about a layer now.
type Action struct {
	Run Want // empty for nothing
	// Why says why it is done, or why nothing is.
	Why string
	// Again is when something may change by time alone; zero for never.
	Again time.Time
}

// Want is a kind of run that a layer wants.
type Want string

// The kinds.
const (
	WantCheck   Want = "check"   // of drift: it refreshes, and writes nothing
	WantPlan    Want = "plan"    // that nobody can apply
	WantPropose Want = "propose" // an apply that waits for a person
	WantApply   Want = "apply"   // an apply that nobody is asked about, where that may be
)

// Decide says what is to be done about a layer whose run, if there was one, has ended.
func Decide(s Settings, f Facts, set Set, layer string, now time.Time) Action {
	due := f.due(s.Drift, layer)
	switch state := StateOf(set); {
	case f.Gone && !set.Is(IsSyncScheduled):
		why := "commit " + short(f.Relevant.ID) + " has taken " + s.Path + " out of the branch, and "
		remove := "`holdfast layer remove " + layer + "`"
		if f.State.Resources == 0 {
			return Action{Why: why + "nothing of what the layer has made is there any more: " + remove + " takes the layer away"}
		}
		return Action{Why: why + "what the layer has made is there still: `holdfast run destroy " + layer + "` takes that away, and " +
			remove + " the layer"}
	case f.waits(set, state, now):
		return Action{Why: "it has failed, and is tried again at " + stamp(f.Failures.RetryAt), Again: f.Failures.RetryAt}
	case f.Stale.waits(f.Relevant.ID, set, state, now):
		return Action{Why: "its plans went stale " + strconv.Itoa(f.Stale.Count) + " times, and it is planned again at " +
			stamp(f.Stale.RetryAt), Again: f.Stale.RetryAt}
	case f.State.Applying != "" && f.stateMoved() && !set.Is(IsSyncScheduled):
		return Action{Why: "run " + f.State.Applying + " changes the state at this moment", Again: now.Add(turn)}
	case state == PlanNeeded:
		return s.plan(f, set, now)
	case state == ApplyNeeded:
		return s.apply(f, now, due)
	case state == MaxRetriesReached:
		return Action{Why: set.Of(HasLastRunReachedRetryLimit).Message}
	}
	return Action{Why: "nothing is to be done", Again: due}
}

// waits reports whether the grace behind a failure is not over. A new commit, or somebody who asks, need not wait.
func (f Facts) waits(set Set, state State, now time.Time) bool {
	return state != MaxRetriesReached && f.Failures.Count > 0 && now.Before(f.Failures.RetryAt) &&
		!set.Is(IsSyncScheduled) &&
		f.Failures.Commit == f.Relevant.ID
}

// waits reports whether the grace behind plans that went stale is not over; for what is as with failures.
func (s Staleness) waits(relevant string, set Set, state State, now time.Time) bool {
	return state != MaxRetriesReached && now.Before(s.RetryAt) && !set.Is(IsSyncScheduled) && s.Commit == relevant
}

// soon is when a window that is closed is looked at again.
const soon = time.Minute

func (s Settings) plan(f Facts, set Set, now time.Time) Action {
	if open, why := Open(s.Windows, PlanRuns, now); !open {
		return Action{Why: "a plan is needed, and " + why, Again: now.Add(soon)}
	}
	why := f.whyPlan(set)
	if f.onlyOld(set) {
		return Action{Run: WantCheck, Why: why}
	}
	if open, _ := Open(s.Windows, ApplyRuns, now); !open || f.State.Pull != "" {
		return Action{Run: WantPlan, Why: why}
	}
	return Action{Run: s.remedy(WantPlan), Why: why}
}

// remedy is what a remediation makes of a plan; dry is what it is without one.
func (s Settings) remedy(dry Want) Want {
	switch s.Remediation {
	case Propose:
		return WantPropose
	case Auto:
		return WantApply
	}
	return dry
}

// onlyOld reports whether a plan is needed for no other reason than that the world was not looked at for long.
func (f Facts) onlyOld(set Set) bool {
	return set.Of(IsPlanArtifactUpToDate).Reason == "PlanIsTooOld" && !set.Is(IsSyncScheduled) &&
		set.Is(IsLastRelevantCommitPlanned) && !set.Is(HasLastPlanFailed)
}

func (f Facts) whyPlan(set Set) string {
	switch {
	case set.Is(IsSyncScheduled):
		return set.Of(IsSyncScheduled).Message
	case !set.Is(IsLastRelevantCommitPlanned):
		return set.Of(IsLastRelevantCommitPlanned).Message + "; " + f.Why
	case set.Is(HasLastPlanFailed):
		return "the last plan has failed: " + f.Failures.Reason
	}
	return set.Of(IsPlanArtifactUpToDate).Message
}

func (s Settings) apply(f Facts, now, due time.Time) Action {
	switch {
	case s.Remediation == Dry:
		return Action{Why: "an apply is needed, and the remediation is dry", Again: due}
	case f.Declined != "" && f.Declined == f.Plan.Digest:
		return Action{Why: "an apply is needed, and somebody has said no to these changes", Again: due}
	}
	open, why := Open(s.Windows, ApplyRuns, now)
	if f.State.Pull != "" {
		open, why = false, "it would undo what the pull request "+f.State.Pull+" has applied, which is open"
	}
	if !open {
		again := now.Add(soon)
		if !due.IsZero() && due.Before(again) {
			again = due
		}
		return Action{Why: "an apply is needed, and " + why, Again: again}
	}
	return Action{Run: s.remedy(""), Why: "the plan of run " + f.Plan.Run + " is not applied"}
}

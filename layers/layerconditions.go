package layers

import (
	"fmt"
	"time"
)

// Terms are a layer's settings as its conditions need them.
type Terms struct {
	// Due is when the world is to be looked at again; zero for never.
	Due time.Time
	// Retries is how many failures are one too many; 0 for the default.
	Retries int
}

// Conditions says what holds of a layer.
func Conditions(f Facts, t Terms, now time.Time) Set {
	return Set{
		f.isPlanArtifactUpToDate(t, now), f.isApplyUpToDate(), f.isLastRelevantCommitPlanned(), f.hasLastPlanFailed(),
		f.isSyncScheduled(), f.hasLastRunReachedRetryLimit(t),
	}
}

func (f Facts) isPlanArtifactUpToDate(t Terms, now time.Time) Condition {
	c := Condition{Type: IsPlanArtifactUpToDate, Status: False}
	switch {
	case f.Plan.Run == "":
		c.Reason, c.Message = "NoPlanHasRunYet", "the layer was never planned"
	case f.Drift.At.After(f.Plan.At) && f.Drift.Digest != f.Plan.Drift && f.Drift.Digest == "":
		c.Reason, c.Message = "DriftHealed", "the drift that the last plan would undo is gone"
	case f.Drift.At.After(f.Plan.At) && f.Drift.Digest != f.Plan.Drift:
		c.Reason, c.Message = "DriftFound", fmt.Sprintf("%d resources were changed outside since the last plan",
			f.Drift.Count)
	case f.stateMoved():
		c.Reason, c.Message = "StateMoved", fmt.Sprintf("the state has version %d, and the last plan is of version %d",
			f.State.Version, f.Plan.State)
	case !t.Due.IsZero() && !now.Before(t.Due):
		c.Reason, c.Message = "PlanIsTooOld", "the world was looked at last at "+stamp(f.Checked)
	default:
		c.Status, c.Reason, c.Message = True, "PlanIsRecent", "the world was looked at at "+stamp(f.Checked)
	}
	return c
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (f Facts) isApplyUpToDate() Condition {
	c := Condition{Type: IsApplyUpToDate, Status: True}
	switch {
	case f.Plan.Run == "":
		c.Reason, c.Message = "NoPlanHasRunYet", "there is no plan that could be applied"
	case !f.Plan.Changes:
		c.Reason, c.Message = "NothingToApply", "the last plan changes nothing"
	case !f.Plan.outstanding(f.Applied):
		c.Reason, c.Message = "ApplyUpToDate", "the last plan is applied"
	case f.Applied.Run == "":
		c.Status, c.Reason, c.Message = False, "NoApplyHasRun", "the plan of run "+f.Plan.Run+" was not applied"
	default:
		c.Status, c.Reason, c.Message = False, "NewPlanAvailable", "run "+f.Plan.Run+
			" has planned something else than what was applied last"
	}
	return c
}

func (f Facts) isLastRelevantCommitPlanned() Condition {
	c := Condition{Type: IsLastRelevantCommitPlanned, Status: True}
	switch {
	case f.Relevant.ID == "":
		c.Reason, c.Message = "NoCommitReceived", "no commit of the branch is known that changes the layer"
	case f.Plan.Commit == f.Relevant.ID:
		c.Reason, c.Message = "LastRelevantCommitPlanned", "the commit "+short(f.Relevant.ID)+" is planned"
	case f.Plan.Commit != "" && f.Plan.Commit == f.Branch.ID:
		c.Reason, c.Message = "LastBranchCommitPlanned", "the newest commit "+short(f.Branch.ID)+" is planned"
	case f.Plan.Commit == "":
		c.Status, c.Reason, c.Message = False, "NoCommitPlannedYet",
			"the commit "+short(f.Relevant.ID)+" is not planned yet"
	default:
		c.Status, c.Reason, c.Message = False, "CommitNotPlanned", "the commit "+short(f.Relevant.ID)+
			" is not planned yet; "+short(f.Plan.Commit)+" is"
	}
	return c
}

// short is a commit's ID for people.
func short(commit string) string { return commit[:min(len(commit), 12)] }

func (f Facts) hasLastPlanFailed() Condition {
	if f.Failures.Count > 0 && f.Failures.Plan && f.Failures.Unmade {
		return Condition{Type: HasLastPlanFailed, Status: True, Reason: "PlanFailed",
			Message: "no run could be made: " + f.Failures.Reason}
	}
	if f.Failures.Count > 0 && f.Failures.Plan {
		return Condition{Type: HasLastPlanFailed, Status: True, Reason: "PlanFailed",
			Message: "run " + f.Failures.Run + ": " + f.Failures.Reason}
	}
	return Condition{Type: HasLastPlanFailed, Status: False, Reason: "PlanDidNotFail",
		Message: "the last plan has not failed"}
}

func (f Facts) isSyncScheduled() Condition {
	if f.Sync.At.IsZero() {
		return Condition{Type: IsSyncScheduled, Status: False, Reason: "NoSyncScheduled",
			Message: "nobody has asked for a plan"}
	}
	return Condition{Type: IsSyncScheduled, Status: True, Reason: "SyncScheduled",
		Message: f.Sync.By + " has asked for a plan at " + stamp(f.Sync.At)}
}

// hasLastRunReachedRetryLimit begins anew with another commit.
func (f Facts) hasLastRunReachedRetryLimit(t Terms) Condition {
	limit, n := (RunFacts{Retries: t.Retries}).retries(), f.Failures
	c := Condition{Type: HasLastRunReachedRetryLimit, Status: False}
	count := func() string { return fmt.Sprintf("it has failed %d times of %d", n.Count, limit) }
	switch {
	case n.Count == 0:
		c.Reason, c.Message = "NoFailure", "the last run has not failed"
	case n.Commit != f.Relevant.ID:
		c.Reason, c.Message = "NewCommit", "the failures are those of another commit"
	case n.Count >= limit, n.Final:
		c.Status, c.Reason = True, "RetryLimitReached"
		c.Message = count() + ", and is not tried again before there is a new commit or somebody asks: " + n.Reason
	default:
		c.Reason, c.Message = "RetriesLeft", count()
	}
	return c
}

// RunFacts is what is known of a run of the layer: failures are those of the commit that changes it.
func (f Facts) RunFacts(at RunStanding, t Terms) RunFacts {
	made := RunFacts{Active: at.Active, Begun: at.Executed, Planned: at.Planned && at.End == "",
		Succeeded: at.Planned && at.End == "" || at.End == EndedWell, Retries: t.Retries,
		Nobody: at.Nobody}
	if n := f.Failures; n.Commit == f.Relevant.ID {
		made.Failures, made.RetryAt = n.Count, n.RetryAt
		if n.Final {
			made.Final = n.Reason
		}
	}
	if at.End == "" { // what goes on has not failed too often yet
		made.Failures += at.Tries
		made.Retries = max(made.retries(), made.Failures+1)
		if at.RetryAt.After(made.RetryAt) {
			made.RetryAt = at.RetryAt
		}
	}
	if at.End == Refused && made.Final == "" {
		made.Final = "somebody has said no to it"
	}
	return made
}

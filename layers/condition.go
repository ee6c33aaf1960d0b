package layers

import "time"

// Status is whether a condition holds.
type Status string

// The statuses.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown" // it could not be found out
)

func statusOf(holds bool) Status {
	if holds {
		return True
	}
	return False
}

// Condition is one thing that is said of a layer or of a run, by the conventions of Kubernetes: Type is what is asked,
// Reason is one word for programs, Message says it to people.
type Condition struct {
	Type    ConditionType `json:"type"`
	Status  Status        `json:"status"`
	Reason  string        `json:"reason"`
	Message string        `json:"message"`
	// LastTransition is since when the status is what it is.
	LastTransition time.Time `json:"last_transition_time"`
}

// ConditionType is what a condition asks.
type ConditionType string

// The conditions of a layer.
const (
	// the last look at the world is no older than it may be
	IsPlanArtifactUpToDate ConditionType = "IsPlanArtifactUpToDate"
	IsApplyUpToDate        ConditionType = "IsApplyUpToDate" // what was planned last is applied
	// the last commit that changes the layer is planned
	IsLastRelevantCommitPlanned ConditionType = "IsLastRelevantCommitPlanned"
	HasLastPlanFailed           ConditionType = "HasLastPlanFailed"
	IsSyncScheduled             ConditionType = "IsSyncScheduled" // somebody has asked for a plan
	HasLastRunReachedRetryLimit ConditionType = "HasLastRunReachedRetryLimit"
)

// The conditions of a run.
const (
	HasStatus              ConditionType = "HasStatus" // somebody has begun to execute it
	HasReachedRetryLimit   ConditionType = "HasReachedRetryLimit"
	HasSucceeded           ConditionType = "HasSucceeded"
	IsRunning              ConditionType = "IsRunning"
	IsInFailureGracePeriod ConditionType = "IsInFailureGracePeriod" // it failed, and is not begun again yet
)

// Set is the conditions of one thing, each once.
type Set []Condition

// Is reports whether the condition holds: one that is unknown, or not there, does not.
func (s Set) Is(kind ConditionType) bool { return s.Of(kind).Status == True }

// Of is a condition; the zero Condition where it is not there.
func (s Set) Of(kind ConditionType) Condition {
	for _, c := range s {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}

// Since returns the conditions with the times of their last transitions: those that have the status which they had
// before keep theirs.
func (s Set) Since(before Set, now time.Time) Set {
	all := make(Set, len(s))
	for i, c := range s {
		c.LastTransition = now
		if was := before.Of(c.Type); was.Status == c.Status && !was.LastTransition.IsZero() {
			c.LastTransition = was.LastTransition
		}
		all[i] = c
	}
	return all
}

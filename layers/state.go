package layers

// State is what a layer needs.
type State string

// The states of layers.
const (
	Idle              State = "Idle"
	PlanNeeded        State = "PlanNeeded"
	ApplyNeeded       State = "ApplyNeeded"
	MaxRetriesReached State = "MaxRetriesReached" // nothing is tried until there is a new commit, or somebody asks
	// Gone is a layer whose configuration was taken out of the branch. What it has made stays until somebody decides.
	Gone State = "Gone"
)

// StateOf is the state that the conditions of a layer give. Whoever asks for a plan is heard though the retries are
// used up, and what was planned last has to be good for it to be applied.
func StateOf(s Set) State {
	switch {
	case s.Is(IsSyncScheduled):
		return PlanNeeded
	case s.Is(HasLastRunReachedRetryLimit):
		return MaxRetriesReached
	case !s.Is(IsPlanArtifactUpToDate), !s.Is(IsLastRelevantCommitPlanned), s.Is(HasLastPlanFailed):
		return PlanNeeded
	case !s.Is(IsApplyUpToDate):
		return ApplyNeeded
	}
	return Idle
}

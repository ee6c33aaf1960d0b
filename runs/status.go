package runs

import "slices"

// Status is where a run is.
type Status string

// The statuses. Cancelling is none of them: a status says what goes on, Run.Cancel that it is
// to end.
const (
	Pending          Status = "pending"           // waits for an executor, or behind another run
	Preparing        Status = "preparing"         // an executor has it
	Planning         Status = "planning"          // the tool plans
	Checking         Status = "checking"          // the server looks at the plan
	AwaitingApproval Status = "awaiting_approval" // people look at the plan
	Confirmed        Status = "confirmed"         // waits for an executor to apply it
	Applying         Status = "applying"          // the tool applies
	Retrying         Status = "retrying"          // waits to begin again, until Run.NotBefore
	Orphaned         Status = "orphaned"          // its executor was lost while it applied
	Succeeded        Status = "succeeded"
	Failed           Status = "failed"
	Discarded        Status = "discarded" // somebody did not want the plan
	Outdated         Status = "stale"     // the plan is of something that has changed since
	Cancelled        Status = "cancelled"
)

// Statuses returns all of them, in the order in which a run goes through them.
func Statuses() []Status {
	return []Status{
		Pending, Preparing, Planning, Checking, AwaitingApproval, Confirmed, Applying, Retrying, Orphaned,
		Succeeded, Failed, Discarded, Outdated, Cancelled,
	}
}

// Ended reports whether nothing follows.
func (s Status) Ended() bool {
	return slices.Contains([]Status{Succeeded, Failed, Discarded, Outdated, Cancelled}, s)
}

// Leased reports whether an executor is at work, who has to show signs of life.
func (s Status) Leased() bool {
	return slices.Contains([]Status{Preparing, Planning, Checking, Applying}, s)
}

// Claimable reports whether an executor may take the run, when it is its turn.
func (s Status) Claimable() bool { return s == Pending || s == Retrying || s == Confirmed }

// Kind is what a run is for.
type Kind string

// The kinds.
const (
	Plan    Kind = "plan"    // shows what would change; nobody can apply it
	Apply   Kind = "apply"   // plans, and applies that
	Destroy Kind = "destroy" // the same, for the removal of everything
	Refresh Kind = "refresh" // writes into the state what there is, and changes nothing else
	Drift   Kind = "drift"   // shows what differs from the state
)

// Kinds returns all of them.
func Kinds() []Kind { return []Kind{Plan, Apply, Destroy, Refresh, Drift} }

// Mutates reports whether a run of this kind may write the state. Of those, only one of a
// workspace goes on at a time.
func (k Kind) Mutates() bool { return k == Apply || k == Destroy || k == Refresh }

// Stage is a part of a run that one executor does without a break.
type Stage string

// The stages.
const (
	PlanStage  Stage = "plan"
	ApplyStage Stage = "apply"
)

// Phase is a step of a stage.
type Phase string

// The phases.
const (
	PhasePrepare Phase = "prepare"
	PhaseInit    Phase = "init"
	PhasePlan    Phase = "plan"
	PhaseShow    Phase = "show"
	PhaseCheck   Phase = "check" // the server's own
	PhaseApply   Phase = "apply"
	PhaseOutput  Phase = "output"
)

// known reports whether it is a phase that an executor goes through.
func (p Phase) known() bool { return p.step() > 0 }

// step is where in its stage a phase comes; 0 for what is none of an executor's.
func (p Phase) step() int {
	return slices.Index([]Phase{"", PhasePrepare, PhaseInit, PhasePlan, PhaseShow, PhaseApply, PhaseOutput}, p)
}

// Class is the kind of a failure: it decides whether to try again.
type Class string

// The classes of failures.
const (
	Infrastructure Class = "infrastructure" // the network, a registry, the disk, a lost executor
	LockHeld       Class = "lock_held"      // somebody else holds the state's lock
	Config         Class = "config"         // the configuration, credentials, a policy
	Provider       Class = "provider"       // a resource could not be made
	SandboxLow     Class = "sandbox"        // the executor can't close as much as the workspace wants
)

// Priority is whose runs go first.
type Priority int

// The priorities, the first first.
const (
	People Priority = iota
	Commits
	Drifts
)

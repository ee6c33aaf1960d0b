package layers

import (
	"fmt"
	"time"
)

// RunFacts are what is known of a run of a layer: of one run, or of those that the same was tried by.
type RunFacts struct {
	// Begun says that somebody has begun to execute it.
	Begun bool
	// Active says that it goes on now.
	Active bool
	// Succeeded says that it has ended well: an apply, when it waits for people, has its plan.
	Succeeded bool
	// Planned says that it has its plan, and has not ended: it waits for a person, or to be applied.
	Planned bool
	// Failures are those in a row, and RetryAt is when the last one's grace is over.
	Failures int
	RetryAt  time.Time
	// Retries is how many failures are one too many; 0 for the default.
	Retries int
	// Final is why it is not tried again whatever the count; empty where it is.
	Final string
	// Nobody is why nobody will execute it; empty where somebody may.
	Nobody string
}

func (f RunFacts) retries() int {
	if f.Retries == 0 {
		return DefaultRetries
	}
	return f.Retries
}

// RunConditions says what holds of a run.
func RunConditions(f RunFacts, now time.Time) Set {
	return Set{f.hasStatus(), f.hasReachedRetryLimit(), f.hasSucceeded(), f.isRunning(), f.isInFailureGracePeriod(now)}
}

func (f RunFacts) hasStatus() Condition {
	c := Condition{Type: HasStatus, Status: statusOf(f.Begun || f.Active || f.Succeeded || f.Failures > 0 ||
		f.Final != "")}
	if c.Status == True {
		c.Reason, c.Message = "Executed", "an executor has begun the run"
	} else {
		c.Reason, c.Message = "NotExecutedYet", "the run waits for its first executor"
	}
	if f.Nobody != "" {
		c.Message = "the run " + f.Nobody
	}
	return c
}

func (f RunFacts) hasReachedRetryLimit() Condition {
	c := Condition{Type: HasReachedRetryLimit, Status: False, Reason: "RetriesLeft",
		Message: fmt.Sprintf("it has failed %d times of %d", f.Failures, f.retries())}
	switch {
	case f.Final != "":
		c.Status, c.Reason, c.Message = True, "NotTriedAgain", f.Final
	case f.Failures >= f.retries():
		c.Status, c.Reason = True, "RetryLimitReached"
	case f.Failures == 0:
		c.Reason, c.Message = "NoFailure", "it has not failed"
	}
	return c
}

func (f RunFacts) hasSucceeded() Condition {
	if f.Planned {
		return Condition{Type: HasSucceeded, Status: True, Reason: "Planned",
			Message: "the run has its plan, which waits to be applied"}
	}
	if f.Succeeded {
		return Condition{Type: HasSucceeded, Status: True, Reason: "Succeeded", Message: "the run has ended well"}
	}
	return Condition{Type: HasSucceeded, Status: False, Reason: "NotSucceeded", Message: "the run has not ended well"}
}

func (f RunFacts) isRunning() Condition {
	if f.Active {
		return Condition{Type: IsRunning, Status: True, Reason: "Active", Message: "an executor is at work"}
	}
	return Condition{Type: IsRunning, Status: False, Reason: "NotActive", Message: "no executor is at work"}
}

func (f RunFacts) isInFailureGracePeriod(now time.Time) Condition {
	c := Condition{Type: IsInFailureGracePeriod, Status: False, Reason: "NoFailure", Message: "it has not failed"}
	if f.Failures == 0 {
		return c
	}
	switch {
	case now.Before(f.RetryAt):
		c.Status, c.Reason, c.Message = True, "InGracePeriod", "it is tried again at "+stamp(f.RetryAt)
	case f.RetryAt.IsZero():
		c.Reason, c.Message = "GracePeriodOver", "its retry has begun"
	default:
		c.Reason, c.Message = "GracePeriodOver", "it may be tried again since "+stamp(f.RetryAt)
	}
	if limit := f.hasReachedRetryLimit(); limit.Status == True {
		c.Message = "it is not tried again by itself"
	}
	return c
}

// RunState is where a run is.
type RunState string

// The states of runs.
const (
	Initial            RunState = "Initial"
	Running            RunState = "Running"
	FailureGracePeriod RunState = "FailureGracePeriod"
	Retrying           RunState = "Retrying"
	Succeeded          RunState = "Succeeded"
	Failed             RunState = "Failed"
)

// RunStateOf is the state that the conditions of a run give.
func RunStateOf(s Set) RunState {
	switch {
	case !s.Is(HasStatus):
		return Initial
	case s.Is(HasSucceeded):
		return Succeeded
	case s.Is(IsRunning):
		return Running
	case s.Is(HasReachedRetryLimit):
		return Failed
	case s.Is(IsInFailureGracePeriod):
		return FailureGracePeriod
	}
	return Retrying
}

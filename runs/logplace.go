package runs

import "context"

// Each try of a stage has a place of its own in the log. One that is claimed again in the same
// attempt, as where the state's lock was held, writes behind what the tries before have written:
// offsets only grow, and who reads the log reads on.

// leastLog is how much of its log a try may keep however much the tries before it have written.
const leastLog = 64 << 10

// withLogPlace returns the executor with the place of the log that it gets by claiming the run as
// it is now.
func (s *Service) withLogPlace(ctx context.Context, by Executor, run Run) (_ Executor, err error) {
	stage := PlanStage
	if run.Status == Confirmed {
		stage = ApplyStage
	}
	if run.Epoch > 0 { // nobody has written anything before the first claim
		by.LogFrom, err = s.Store.LogEnd(ctx, LogRef{run.Ref(), Stream(stage), run.Attempt})
	}
	return by, err
}

// ofRevision has a decision be made only of the run as it was looked at: until then somebody else may
// have claimed it, and have written to its log.
func (d Decide) ofRevision(seen int64) Decide {
	return func(r Run) (Change, error) {
		if r.Revision != seen {
			return Change{}, misplaced(r, "claimed: it has changed since it was looked at")
		}
		return d(r)
	}
}

// logFrom is where the part of the log begins that the run's executor writes.
func (r Run) logFrom() int64 {
	if r.Executor == nil {
		return 0
	}
	return r.Executor.LogFrom
}

// logRoom is how many bytes that part may have, of a log that may have so many; at least one, as 0 is
// for no bound. Tries that find the log full have room until it is twice as long as it may be: how
// often something is tried again has no bound, where a lock is held.
func (r Run) logRoom(most int64) int64 {
	if most <= 0 {
		return most
	}
	from := r.logFrom()
	return max(most-from, min(leastLog, most, 2*most-from), 1)
}

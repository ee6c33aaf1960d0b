package runs

import (
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// The rules of records of runs that are made elsewhere.

// attend is a sign of life of whoever makes the run. One of which nothing was heard goes on.
func (c call) attend(phase Phase, lease time.Duration) Decide {
	return func(r Run) (Change, error) {
		if err := r.current(r.Epoch); err != nil {
			return Change{}, err
		}
		m := c.change(r)
		m.resume()
		m.seen(api.LeaseRenewal{}, lease)
		if phase == PhaseApply && m.run.Stage == PlanStage {
			m.run.Stage, m.run.Phase, m.run.AppliedAt, m.run.Touched = ApplyStage, PhaseApply, c.at, true
			m.to(Applying, "").because(EventPhase, "apply begins")
		}
		return m.done()
	}
}

// conclude ends a record as whoever made the run says. head is the state's newest version.
func (c call) conclude(e api.IACRunEnd, head Base) Decide {
	return func(r Run) (Change, error) {
		if r.Status.Ended() && (r.Status == Succeeded) == (e.Status == "Succeeded") {
			return nothing(r)
		}
		if err := r.current(r.Epoch); err != nil {
			return Change{}, err
		}
		m := c.change(r)
		m.run.ExitCode, m.run.After, m.run.InFlight = e.ExitCode, head.Version, nil
		switch {
		case e.Status == "Succeeded":
			m.to(Succeeded, "")
		case r.Cancel != nil:
			m.to(Cancelled, "cancelled; "+interruptedAt(head.Version, nil))
		default:
			m.to(Failed, cut(e.Reason, maxMessage))
		}
		return m.because(EventEnded, m.run.Reason).done()
	}
}

// silent is for a record of which nothing is heard. The tool may go on: the record waits for word.
func (c call) silent() Decide {
	return func(r Run) (Change, error) {
		if !r.Status.Leased() || r.LeaseUntil.After(c.at) {
			return nothing(r)
		}
		m := c.change(r)
		m.run.GiveUpAt = c.at.Add(keepsSilent)
		return m.to(Orphaned, "nothing is heard of the machine that runs it: it is not known whether it still does").
			because(EventLost, "nothing is heard of its machine").done()
	}
}

// giveUpElsewhere ends a record of which nothing was heard for too long.
func (c call) giveUpElsewhere(why string) Decide {
	return func(r Run) (Change, error) {
		if r.Status != Orphaned {
			if r.Status == Failed {
				return nothing(r)
			}
			return Change{}, fault.New(fault.RunStatus, "a run that is %s is not lost", r.Status)
		}
		m := c.change(r)
		return m.to(Failed, "nothing was heard of its machine any more: "+why).because(EventResolved, why).done()
	}
}

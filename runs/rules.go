package runs

import (
	"slices"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// The rules of a run's way through its statuses, as pure decisions on the run; executorrules.go
// has what executors say, approvalrules.go what people decide about a plan. Each call may be
// repeated by one whose answer got lost, and must then say yes again without doing it again.

// call is what a decision needs to know of the call it is made for.
type call struct {
	by Actor
	at time.Time
	// jitter is between 0.5 and 1.5: retries of many runs spread by it.
	jitter float64
	// next is the ID of a run that the decision may have follow.
	next string
	// standing says who may still do what they did; nil for everybody.
	standing Standing
}

// wait is how long after its n-th attempt a run tries again.
func (c call) wait(attempt int) time.Duration {
	const first, longest = 15 * time.Second, 10 * time.Minute
	delay := longest
	if shift := max(attempt-1, 0); shift < 6 {
		delay = min(longest, first<<shift)
	}
	return time.Duration(float64(delay) * c.jitter)
}

// change is the run as it was, to be changed.
func (c call) change(r Run) *moving {
	return &moving{call: c, was: r.Status, run: r.clone(), from: whereaboutsOf(r)}
}

// whereabouts is how far a run is on its way.
type whereabouts struct {
	status  Status
	stage   Stage
	phase   Phase
	attempt int
}

func whereaboutsOf(r Run) whereabouts {
	return whereabouts{r.Status, r.Stage, r.Phase, r.Attempt}
}

// moving is a change that is being made.
type moving struct {
	call
	was    Status
	from   whereabouts // where the run was
	run    Run
	events []Event
}

// clone shares nothing with the run that a rule changes.
func (r Run) clone() Run {
	r.Approvals, r.Gates, r.InFlight = slices.Clone(r.Approvals), slices.Clone(r.Gates), slices.Clone(r.InFlight)
	r.Diagnostics, r.Phases, r.Reports = slices.Clone(r.Diagnostics), slices.Clone(r.Phases), slices.Clone(r.Reports)
	if r.Outside != nil {
		outside := *r.Outside
		r.Outside = &outside
	}
	if r.Executor != nil {
		executor := *r.Executor
		r.Executor = &executor
	}
	if r.Cancel != nil {
		cancel := *r.Cancel
		r.Cancel = &cancel
	}
	return r
}

// to moves the run to a status, for a reason that people see.
func (m *moving) to(status Status, reason string) *moving {
	m.run.Status, m.run.Reason = status, reason
	if !status.Leased() {
		m.run.LeaseUntil = time.Time{}
	}
	if status.Ended() {
		m.run.FinishedAt = m.at
	}
	return m
}

// because notes what happened.
func (m *moving) because(what EventType, note string) *moving {
	m.events = append(m.events,
		Event{At: m.at, Type: what, From: m.was, To: m.run.Status, Epoch: m.run.Epoch, By: m.by, Note: note})
	m.was = m.run.Status
	return m
}

func (m *moving) done() (Change, error) {
	if whereaboutsOf(m.run) != m.from {
		m.run.MovedAt = m.at
	}
	return Change{Run: m.run, Events: m.events}, nil
}

// nothing records nothing: what was asked for is so already.
func nothing(r Run) (Change, error) { return Change{Run: r}, nil }

// misplaced is the fault of a call that doesn't fit where the run is.
func misplaced(r Run, what string) error {
	return fault.New(fault.RunStatus, "a run that is %s can't be %s", r.Status, what)
}

// cancel ends a run that nobody executes at once, and tells the executor of another one to end.
// A hard cancellation comes behind a soft one.
func (c call) cancel(level, reason string) Decide {
	return func(r Run) (Change, error) {
		switch {
		case r.Status == Cancelled:
			return nothing(r)
		case r.Status.Ended():
			return Change{}, misplaced(r, "cancelled")
		case r.Status == Orphaned:
			return Change{}, fault.New(fault.RunStatus,
				"the run's executor is lost, so nobody can be told to stop: resolve the run instead")
		case !r.Status.Leased():
			return c.change(r).cancelled(level).to(Cancelled, "cancelled before it was executed").because(EventCancel,
				reason).done()
		case r.Cancel != nil && (r.Cancel.Level == level || r.Cancel.Level == Hard):
			return nothing(r)
		case r.Cancel == nil && level == Hard:
			return Change{}, fault.New(fault.RunStatus,
				"a run is first cancelled softly, so that the tool can store the state: ask for that, and for this only when it "+
					"doesn't end")
		}
		return c.change(r).cancelled(level).because(EventCancel, level+": "+reason).done()
	}
}

// The levels of a cancellation.
const (
	Soft = "soft" // the tool is told to stop, and stores the state
	Hard = "hard" // it is killed
)

func (m *moving) cancelled(level string) *moving {
	m.run.Cancel = &api.Cancel{Level: level, By: m.by.Wire(), At: m.at}
	if grace := m.run.Terms.Grace[m.run.Stage]; level == Soft && m.run.Status.Leased() && grace > 0 {
		until := m.at.Add(grace)
		m.run.Cancel.Until = &until
	}
	return m
}

// stale takes a plan that waits out of the way, because something has changed since. A plan that
// was approved is made again, and its approvals count for equal changes.
// One that is being applied says so at once; what follows is decided when its tool has ended, which
// is not given the state's lock any more.
func (c call) stale(why api.Stale) Decide {
	return func(r Run) (Change, error) {
		if r.Status == Applying && r.Stale == nil && why.Because == ByState {
			m := c.change(r)
			m.run.Stale, m.run.Reason = &why, sinceOf(why)
			return m.because(EventStale, m.run.Reason).done()
		}
		if r.Status != AwaitingApproval && r.Status != Confirmed {
			return nothing(r)
		}
		return c.change(r).outdated(why).done()
	}
}

// otherPolicies has a plan that waits made anew, because it was shown to other policies than those of this digest. One
// that has used up its attempts is out of date.
func (c call) otherPolicies(digest string, why api.Stale) Decide {
	return func(r Run) (Change, error) {
		if r.Status != AwaitingApproval && r.Status != Confirmed || r.Pin == nil || r.Pin.Policies == digest {
			return nothing(r)
		}
		m := c.change(r)
		if r.Attempt >= r.Terms.MaxAttempts {
			return m.outdated(why).done()
		}
		text, approved := "the plan is made anew: "+sinceOf(why), r.Earlier
		m.again(text, 0).because(EventStale, text)
		if r.Status == AwaitingApproval && r.isPart() {
			m.run.Earlier = approved // and not the plan that nobody has said yes to
		}
		return m.done()
	}
}

func (m *moving) outdated(why api.Stale) *moving {
	m.run.Stale = &why
	text := "the plan can't be applied any more: " + sinceOf(why)
	if m.was != AwaitingApproval && m.run.Terms.Carry && why.Because == ByState {
		return m.again(text, 0).because(EventStale, text)
	}
	return m.to(Outdated, text).because(EventStale, text)
}

// What makes a plan stale.
const (
	ByState    = "state"
	BySettings = "settings" // of the workspace, variables too
	ByConfig   = "config"   // there is another one that is to be applied instead
	ByExpiry   = "expired"
)

// waitFor is how long to wait after a failure: as long as whoever was too busy wants, at least.
func (c call) waitFor(p api.PhaseReport, attempt int) time.Duration {
	const longest = 3600 // seconds
	return max(c.wait(attempt), time.Duration(min(p.RetryAfter, longest))*time.Second)
}

// again has the run plan once more, after a while.
func (m *moving) again(reason string, delay time.Duration) *moving {
	r := &m.run
	if r.Pin != nil && (len(r.Approvals) > 0 || r.isPart()) {
		earlier := r.asEarlier()
		earlier.Planned, earlier.Revision = r.ofPart(), r.Terms.Revision
		r.Earlier = earlier
	}
	r.Stage, r.Phase = "", ""
	r.Pin, r.Counts, r.Approvals, r.Gates, r.InFlight, r.Outside = nil, nil, nil, nil, nil, nil
	r.Confirm, r.Removes = "", 0
	r.Attempt++
	r.NotBefore = m.at.Add(delay)
	return m.to(Retrying, reason)
}

// expire ends what has waited for too long.
func (c call) expire() Decide {
	return func(r Run) (Change, error) {
		if !r.expired(c.at) {
			return nothing(r)
		}
		return c.stale(api.Stale{Since: c.at, Because: ByExpiry})(r)
	}
}

// sinceOf says what made a plan stale.
func sinceOf(s api.Stale) string {
	switch s.Because {
	case ByState:
		text := "the state has changed since"
		if s.Version > 0 {
			text = "stale since version " + number(s.Version) + " of the state"
		}
		if s.By != nil {
			text += ", by " + nameOf(*s.By)
		}
		return text
	case ByConfig:
		return s.What
	case BySettings:
		what := s.What
		if what == "" {
			what = "the workspace's settings or variables"
		}
		if s.By != nil {
			return what + " changed since, by " + nameOf(*s.By)
		}
		return what + " changed since"
	case ByExpiry:
		return "it waited for longer than a plan or an approval counts"
	}
	return "it is not what was approved"
}

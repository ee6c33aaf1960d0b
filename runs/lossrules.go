package runs

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
)

// The rules of what is lost or broken off: executors that are silent, applies that end in the
// middle, and what the server does about them by itself.

// lose is for a run whose executor has shown no sign of life for too long. What could not have
// changed anything begins again; an apply keeps its slot until it is known what became of it. An
// attempt counts if its commands had begun. orphans is for how long an apply is waited for; 0 for
// as long as it takes.
func (c call) lose(orphans time.Duration) Decide {
	return func(r Run) (Change, error) {
		if !r.Status.Leased() || r.LeaseUntil.After(c.at) {
			return nothing(r)
		}
		m := c.change(r)
		lost, begun := "the executor was lost in "+string(r.Phase), r.Phase != "" && r.Phase != PhasePrepare
		switch {
		case r.Touched:
			m.run.GiveUpAt = after(c.at, orphans)
			return m.to(Orphaned, "the executor was lost while it applied: it is not known whether it still does").
				because(EventLost, lost).done()
		case r.Cancel != nil:
			m.run.Epoch++
			return m.to(Cancelled, "cancelled before anything was changed").because(EventLost, lost).done()
		case begun && r.Attempt >= r.Terms.MaxAttempts:
			m.run.Epoch++
			m.run.GaveUp = true
			return m.to(Failed, lost+", in the last attempt").because(EventLost, lost).done()
		}
		m.yield(lost, c.wait(r.Attempt))
		if begun {
			m.run.Attempt++
		}
		return m.done()
	}
}

// resolve ends a run whose executor was lost: by evidence that nothing of it is left, or by
// somebody who says so. head is the state's newest version. What there is then is compared with
// the state.
func (c call) resolve(reason string, head Base) Decide {
	return func(r Run) (Change, error) {
		if r.Status != Orphaned {
			if r.Status == Failed && r.Stage == ApplyStage {
				return nothing(r)
			}
			return Change{}, misplaced(r, "resolved: its executor is not lost")
		}
		m := c.change(r)
		m.run.Epoch++
		m.interrupted("", head.Version).because(EventResolved, reason)
		return m.done()
	}
}

// brokeOff ends an apply that was begun and went wrong. Where its tool has ended in order, what it
// made is in the state, and a new plan of what is left can help. Else something may exist of which
// nothing is known, and to go on would make it twice.
func (m *moving) brokeOff(p api.PhaseReport, reason string, head Base) {
	r := &m.run
	inOrder := p.ExitCode == toolFailed && len(r.InFlight) == 0 && !p.StateKept
	helps := Class(p.Class) == Provider || Class(p.Class) == Infrastructure
	r.After = head.Version
	switch {
	case Phase(p.Phase) == PhaseApply && !inOrder:
		m.interrupted(reason, head.Version)
	case Phase(p.Phase) == PhaseApply && helps && r.Tries+1 < r.Terms.MaxAttempts:
		f := m.follow(r.Kind, m.waitFor(p, r.Tries+1))
		m.to(Failed, fmt.Sprintf("%s; the state is at version %d; run %s plans what is left", reason, head.Version, f.ID))
	default:
		r.GaveUp = helps && Phase(p.Phase) == PhaseApply
		m.to(Failed, fmt.Sprintf("%s; the state is at version %d", reason, head.Version))
	}
	m.because(EventEnded, r.Reason)
}

// toolFailed is the exit code of a tool that has met errors, and has stored what it did.
const toolFailed = 1

// interrupted ends an apply of which it isn't known what it did last: a plan that changes nothing
// finds out what there is.
func (m *moving) interrupted(reason string, version uint64) *moving {
	m.run.After = version
	text := interruptedAt(version, m.run.InFlight)
	if reason != "" {
		text = reason + "; " + text
	}
	f := m.follow(Drift, 0)
	return m.to(Failed, text+"; run "+f.ID+" compares the state with what there is")
}

// follow has a run made behind this one.
func (m *moving) follow(kind Kind, delay time.Duration) Follow {
	m.run.Follow = &Follow{ID: m.next, Kind: kind, NotBefore: m.at.Add(delay)}
	return *m.run.Follow
}

// interruptedAt says what an apply that did not end well leaves behind.
func interruptedAt(version uint64, left []api.InFlight) string {
	text := fmt.Sprintf("apply interrupted at version %d", version)
	if len(left) == 0 {
		return text
	}
	var names []string
	for _, l := range left[:min(len(left), 5)] {
		names = append(names, l.Address)
	}
	if len(left) > len(names) {
		names = append(names, "…")
	}
	return fmt.Sprintf("%s; %d %s may exist: %s", text, len(left),
		map[bool]string{true: "resource", false: "resources"}[len(left) == 1], strings.Join(names, ", "))
}

package live

import (
	"strings"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/runs"
)

// Kind is what an event is about.
type Kind string

// The kinds.
const (
	OfState     Kind = "state"     // its versions, lock, candidates or announcements
	OfWorkspace Kind = "workspace" // its settings, variables or configuration; no name: of all
	OfRun       Kind = "run"
	OfPool      Kind = "pool"  // of agents
	OfAudit     Kind = "audit" // something else that the audit log has
)

// Event says that something has changed.
type Event struct {
	Kind    Kind
	Action  audit.Action // empty for a run
	At      time.Time
	Name    string // of the state or the workspace
	Version uint64
	// Run is what is said of a run: no more than it takes to find it, and to show where it is.
	Run Run

	ofRun  bool
	number uint64 // its sequence in the log, or of the run's change
}

// Run is where a run is.
type Run struct {
	ID     string
	Kind   runs.Kind
	Status runs.Status
	Phase  runs.Phase
}

// ofLog is what an event of the audit log tells.
func ofLog(e audit.Event) Event {
	return Event{Kind: kindOf(e), Action: e.Action, At: e.At, Name: e.State, Version: e.Version, number: e.Sequence}
}

// kindOf says whom an event is for. What was refused or read has changed nothing, and what somebody did with
// a run is told with the run's change.
func kindOf(e audit.Event) Kind {
	group, _, _ := strings.Cut(string(e.Action), ".")
	switch {
	case e.Refused != "", e.Action == audit.StateRead:
		return OfAudit
	case group == "state", group == "version", group == "versions", group == "lock", group == "candidate",
		group == "expect":
		return OfState
	case group == "workspace":
		return OfWorkspace
	case group == "pool", group == "agent":
		return OfPool
	}
	return OfAudit
}

func ofChange(c runs.ChangedRun) Event {
	r := c.Run
	return Event{
		Kind: OfRun, At: latest(r.CreatedAt, r.StartedAt, r.PlannedAt, r.DecidedAt, r.AppliedAt, r.FinishedAt),
		Name: r.Workspace, Run: Run{ID: r.ID, Kind: r.Kind, Status: r.Status, Phase: r.Phase},
		ofRun: true, number: uint64(c.Number),
	}
}

func latest(times ...time.Time) (last time.Time) {
	for _, at := range times {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// may reports whether the caller is told of the event: whoever could read what it is about.
func (e Event) may(p auth.Principal) bool {
	switch e.Kind {
	case OfState:
		return p.MayOn(auth.ReadMetadata, e.Name) == nil
	case OfWorkspace:
		return p.MayOn(auth.ReadWorkspace, e.Name) == nil
	case OfRun:
		return p.MayOn(auth.ReadRun, e.Name) == nil
	case OfPool:
		return p.May(auth.ReadRun) == nil
	}
	return p.MayOn(auth.ReadAudit, e.Name) == nil
}

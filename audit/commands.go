package audit

import "strings"

// Commands returns what somebody types who is told of the event and wants to look, and to
// decide; nil where there is nothing to decide. Each can be pasted as it is: what it needs to
// know beyond that, it asks.
func (e Event) Commands() []string {
	switch e.Action {
	case CandidateHold, CandidateFence:
		if id, _, _ := strings.Cut(e.Note, ":"); id != "" && strings.Trim(id, "0123456789abcdef") == "" {
			return CandidateCommands(e.State, id)
		}
	case LockTakeOver, LockForce:
		return []string{"holdfast lock list", "holdfast audit list --state " + argument(e.State)}
	case StateWrite:
		return []string{"holdfast state diff " + argument(e.State), "holdfast state versions " + argument(e.State)}
	}
	return nil
}

// Run returns the ID of the run that the event is about, which its note begins with; empty for none.
func (e Event) Run() string {
	named, ok := strings.CutPrefix(e.Note, "run ")
	id, _, _ := strings.Cut(named, ":")
	if !ok || len(id) != 26 || strings.Trim(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
		return ""
	}
	return id
}

// CandidateCommands returns what somebody types to decide on an open candidate.
func CandidateCommands(state, id string) []string {
	of := " " + argument(state) + " " + id
	return []string{"holdfast candidate diff" + of, "holdfast candidate promote" + of, "holdfast candidate discard" + of}
}

// argument returns a state's name as a shell and a command take it. Of the characters that a
// name has, "~" at its begin is somebody's home to a shell, and "-" a flag to a command.
func argument(name string) string {
	switch {
	case strings.HasPrefix(name, "~"):
		return "'" + name + "'"
	case strings.HasPrefix(name, "-"):
		return "-- " + name
	}
	return name
}

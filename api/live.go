package api

import "time"

// LiveChange says that something in the organization has changed: the data of an event "change" of
// the stream of events.
type LiveChange struct {
	Kind    string    `json:"kind"`              // state, workspace, run, pool or audit
	Action  string    `json:"action,omitempty"`  // as in the audit log; absent of a run
	At      time.Time `json:"at"`                // when
	Name    string    `json:"name,omitempty"`    // of the state or the workspace; absent where it is about none, or all
	Version uint64    `json:"version,omitempty"` // of the state; absent where it is about none
	Run     string    `json:"run,omitempty"`     // the run's ID
	RunKind string    `json:"run_kind,omitempty"`
	Status  string    `json:"status,omitempty"` // where the run is
	Phase   string    `json:"phase,omitempty"`
}

package api

import (
	"encoding/json"
	"time"
)

// IACRun is a run of a partition, as those know it who call partitions by their enclaves.
type IACRun struct {
	ID          string     `json:"id"`
	EnclaveID   string     `json:"enclave_id"`
	PartitionID string     `json:"partition_id"`
	Operation   string     `json:"operation" enum:"Provision|Update|Teardown"` // Provision, Update or Teardown
	StartedAt   time.Time  `json:"started_at"`
	FinishedAt  *time.Time `json:"finished_at"`                            // null while it goes on
	Status      string     `json:"status" enum:"Running|Succeeded|Failed"` // Running, Succeeded or Failed
	ExitCode    *int       `json:"exit_code"`                              // null where there is none
	// ReconcileRunID is what the runs of one reconcile have in common; null for others.
	ReconcileRunID *string `json:"reconcile_run_id"`
}

// IACRunLog is a run of a partition with what its tool has printed.
type IACRunLog struct {
	IACRun
	// Log is what was printed while it planned and, behind a line that says so, while it applied.
	Log string `json:"log"`
	// LogCut says that the log is longer; all of it has an address of its own, that of runs.
	LogCut bool `json:"log_cut,omitempty"`
}

// IACRunOrder begins the record of a run that is made on the caller's machine.
type IACRunOrder struct {
	// Operation is Provision, Update or Teardown; which of the first two it is the state says.
	Operation string `json:"operation" enum:"Provision|Update|Teardown"`
	// ReconcileRunID is a UUID that the runs of one reconcile have in common.
	ReconcileRunID string `json:"reconcile_run_id,omitempty"`
	Tool           string `json:"tool,omitempty"` // the name of what is run
	Message        string `json:"message,omitempty"`
}

// IACRunSign is a sign of life of whoever makes the run of a record.
type IACRunSign struct {
	// Phase is apply once the tool begins to change something, and init before; empty says nothing of it.
	Phase string `json:"phase,omitempty" enum:"init|apply"`
}

// IACRunEnd ends a record.
type IACRunEnd struct {
	Status   string `json:"status" enum:"Succeeded|Failed"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Reason   string `json:"reason,omitempty"` // of a failure
	// Outputs are as `output -json` of the tool has them. No sensitive value is kept.
	Outputs json.RawMessage `json:"outputs,omitempty"`
}

// EnclaveRemoval is how far an enclave is taken away.
type EnclaveRemoval struct {
	Enclave string `json:"enclave"`
	// Done says that nothing is left. Until then, the same request goes on with it.
	Done       bool               `json:"done"`
	Partitions []PartitionRemoval `json:"partitions"`
}

// PartitionRemoval is how far a partition is taken away.
type PartitionRemoval struct {
	Partition string `json:"partition"`
	// destroying, waiting (for others, or an approval), failed or removed
	Status string `json:"status" enum:"destroying|waiting|failed|removed"`
	Run    string `json:"run,omitempty"`    // that destroys it
	Reason string `json:"reason,omitempty"` // why it waits or has failed
}

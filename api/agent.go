package api

import "time"

// AgentPool is a group of agents that share a token, and what it may run.
type AgentPool struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	// Workspaces are patterns of those that the pool serves; empty for all of the organization's.
	Workspaces []string `json:"workspaces,omitempty"`
	// Lender is the UUID of the organization whose pool it is; absent for one's own.
	Lender string `json:"lender,omitempty"`
	// Grants are the organizations that one's own pool is lent to.
	Grants []PoolGrant `json:"grants,omitempty"`
	// Token is there once, in the answer that made it.
	Token  string  `json:"token,omitempty"`
	Agents []Agent `json:"agents,omitempty"`
}

// PoolGrant lends a pool to another organization, which has to accept it.
type PoolGrant struct {
	Organization string    `json:"organization"`         // its UUID
	Workspaces   []string  `json:"workspaces,omitempty"` // patterns of that organization's; none for all
	CreatedAt    time.Time `json:"created_at"`
}

// GrantOrder lends a pool to another organization.
type GrantOrder struct {
	Organization string   `json:"organization"`
	Workspaces   []string `json:"workspaces,omitempty"`
}

// PoolOrder asks for a pool.
type PoolOrder struct {
	Name       string   `json:"name"`
	Workspaces []string `json:"workspaces,omitempty"` // patterns; none for all
	// Lender accepts a pool of this name that another organization lends, by its UUID.
	Lender string `json:"lender,omitempty"`
}

// PoolChange has a pool serve other workspaces.
type PoolChange struct {
	Workspaces []string `json:"workspaces"` // patterns; none for all
}

// AgentPools lists them.
type AgentPools struct {
	Pools []AgentPool `json:"pools"`
}

// Agent is a process that executes runs.
type Agent struct {
	ID       string    `json:"id"`
	Pool     string    `json:"pool"`
	Name     string    `json:"name"` // of its machine
	Version  string    `json:"version"`
	System   string    `json:"system"` // such as linux_amd64
	Sandbox  string    `json:"sandbox"`
	Draining bool      `json:"draining"`
	SeenAt   time.Time `json:"seen_at"`
	Runs     []string  `json:"runs,omitempty"` // that it has now
	// Secret is there once, in the answer to the registration.
	Secret string `json:"secret,omitempty"`
}

// AgentRegistration is how an agent presents itself, with its pool's token.
type AgentRegistration struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	System  string `json:"system"`
	Sandbox string `json:"sandbox"`
	BootID  string `json:"boot_id"` // of its machine: a lost apply is proven dead when it changed
}

// AgentClaim asks for work.
type AgentClaim struct {
	// Key is the same in a repeated call, and then gives the same run again.
	Key string `json:"key"`
	// Wait is for how many seconds the answer may take when there is no work; at most 50.
	Wait     int    `json:"wait,omitempty"`
	Sandbox  string `json:"sandbox"`
	BootID   string `json:"boot_id"`
	Draining bool   `json:"draining,omitempty"`
}

// Assignment is a stage of a run for one executor. Its variables are secrets: an executor keeps
// them in memory only.
type Assignment struct {
	Run       string    `json:"run"`
	Workspace string    `json:"workspace"`
	Org       string    `json:"org"`
	Kind      string    `json:"kind" enum:"RunKind"`
	Stage     string    `json:"stage" enum:"RunStage"` // plan or apply
	Attempt   int       `json:"attempt"`
	Epoch     int64     `json:"epoch"`
	Lease     time.Time `json:"lease_until"`
	// Token is what the executor says to the run's addresses, StateToken what its tool says to the
	// state's: whatever a configuration executes can find out that one.
	Token      string `json:"token"`
	StateToken string `json:"state_token"`
	// StateAddress is the state's path behind the server's own address, such as
	// "/api/v1/state/prod/network".
	StateAddress string `json:"state_address"`

	Snapshot  string   `json:"snapshot"`
	Directory string   `json:"directory"` // within the snapshot
	Tool      Tool     `json:"tool"`
	Targets   []string `json:"targets,omitempty"`
	Replace   []string `json:"replace,omitempty"`
	NoRefresh bool     `json:"no_refresh,omitempty"`
	// RefreshOnly plans what differs from the state, and nothing else.
	RefreshOnly bool `json:"refresh_only,omitempty"`
	// Parallelism is the tool's; 0 for its own default.
	Parallelism int `json:"parallelism,omitempty"`
	// Variables are Terraform variables, Environment those of the process.
	Variables   []Input `json:"variables,omitempty"`
	Environment []Input `json:"environment,omitempty"`
	// Words are values of sensitive ones that are plain words and stand in the configuration: no log hides them.
	Words []string `json:"words,omitempty"`
	// Inputs is the digest of the variables, which tells nothing about them: an executor that comes
	// back begins no apply with others than it was to begin with.
	Inputs string `json:"inputs,omitempty"`
	// Seconds that the stage, and the grace after a soft cancellation, may take.
	Timeout int `json:"timeout"`
	Grace   int `json:"grace"`
	// MinSandbox is the least level to run at.
	MinSandbox string `json:"min_sandbox" enum:"SandboxLevel"`
	// LogFrom is the offset at which the log of this try begins: behind what an earlier try of the
	// same attempt has written. MaxLogBytes bounds what is kept of it.
	LogFrom     int64 `json:"log_from,omitempty"`
	MaxLogBytes int64 `json:"max_log_bytes"`
	// Carried are artefacts of the plan that an apply starts from.
	Carried []Artefact `json:"carried,omitempty"`
	// Outputs that the workspace declares.
	Outputs []string `json:"outputs,omitempty"`
}

// Tool is what a stage is run with.
type Tool struct {
	Name    string `json:"name" enum:"ToolName"` // opentofu, terraform, terragrunt or engine
	Version string `json:"version,omitempty"`
	// Digest is the binary's SHA-256 where an apply must use the plan's; else empty.
	Digest string `json:"digest,omitempty"`
	System string `json:"system,omitempty"`
	// Calls is the tool that this one has do the work: Terragrunt's.
	Calls *Tool `json:"calls,omitempty"`
}

// Input is the value of a variable.
type Input struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	HCL       bool   `json:"hcl,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Artefact is a file that a stage made.
type Artefact struct {
	// plan, plan_json, lock_file, plan_files, json_log, errored_state, outputs or results
	Kind   string `json:"kind" enum:"ArtefactKind"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"` // SHA-256
	// Attempt is that of the stage that made it.
	Attempt int `json:"attempt,omitempty"`
}

// LeaseRenewal is an executor's sign of life.
type LeaseRenewal struct {
	Epoch int64  `json:"epoch"`
	Stage string `json:"stage" enum:"RunStage"`
	Phase string `json:"phase,omitempty"`
	// BootID, PID and StartTime are of the command's process: evidence for when it is lost.
	BootID    string     `json:"boot_id,omitempty"`
	PID       int        `json:"pid,omitempty"`
	StartTime uint64     `json:"start_time,omitempty"`
	InFlight  []InFlight `json:"in_flight,omitempty"`
	Sandbox   *Sandbox   `json:"sandbox,omitempty"`
	// Wait is for how many seconds, at most 50, the answer may take while no more is wanted of the
	// executor than Cancel says, which is the level that it knows of.
	Wait   int    `json:"wait,omitempty"`
	Cancel string `json:"cancel,omitempty" enum:"soft|hard"`
}

// Lease is the answer to it.
type Lease struct {
	Epoch  int64     `json:"epoch"`
	Until  time.Time `json:"until"`
	Every  int       `json:"every"`                             // seconds until the next renewal
	Cancel string    `json:"cancel,omitempty" enum:"soft|hard"` // soft or hard
	Drain  bool      `json:"drain,omitempty"`
}

// LogEnd is where a log ends.
type LogEnd struct {
	End int64 `json:"end"`
}

// LogRefusal is the body of the refusal of a piece of a log.
type LogRefusal struct {
	Failure
	// End is up to where the log is as its executor has it: where it ends, if the piece was to come
	// behind that, or where it has another byte.
	End int64 `json:"end"`
}

// PhaseReport says how a phase ended. It is repeatable by (stage, attempt, phase).
type PhaseReport struct {
	Epoch   int64  `json:"epoch"`
	Stage   string `json:"stage" enum:"RunStage"`
	Attempt int    `json:"attempt"`
	Phase   string `json:"phase" enum:"PhaseName"`                         // prepare, init, plan, show, apply or output
	Outcome string `json:"outcome" enum:"succeeded|failed|cancelled|lost"` // succeeded, failed, cancelled or lost
	// Class of a failure: infrastructure, lock_held, config, provider or sandbox.
	Class   string `json:"class,omitempty" enum:"FailureClass"`
	Message string `json:"message,omitempty"`
	// RetryAfter is for how many seconds somebody who was too busy wants to be left alone.
	RetryAfter int `json:"retry_after,omitempty"`
	// StateKept says that the tool has left a state behind that it could not store.
	StateKept bool         `json:"state_kept,omitempty"`
	ExitCode  int          `json:"exit_code"`
	Seconds   float64      `json:"seconds"`
	Changes   bool         `json:"changes,omitempty"` // of a plan: exit code 2 of -detailed-exitcode
	Tool      *Tool        `json:"tool,omitempty"`    // that was used, with its digest
	Sandbox   *Sandbox     `json:"sandbox,omitempty"`
	Found     []Diagnostic `json:"diagnostics,omitempty"`
	Work
	// InFlight are resources that were begun and not finished when the phase ended.
	InFlight []InFlight `json:"in_flight,omitempty"`
	// Last says that the stage ends with this phase.
	Last bool `json:"last,omitempty"`
}

// PhaseAnswer says whether to go on.
type PhaseAnswer struct {
	Continue bool   `json:"continue"`
	Reason   string `json:"reason,omitempty"` // why not
}

package api

import (
	"encoding/json"
	"time"
)

// Runs is a page of the list of runs, the newest first.
type Runs struct {
	Next *string `json:"next"` // the next page's cursor; null at the end
	Runs []Run   `json:"runs"`
}

// RunOrder asks for a run.
type RunOrder struct {
	Workspace string `json:"workspace"`
	Kind      string `json:"kind" enum:"RunKind"` // plan, apply, destroy, refresh or drift
	// Snapshot is the configuration to run; absent for the workspace's newest.
	Snapshot string `json:"snapshot,omitempty"`
	// Message says why, for people.
	Message string   `json:"message,omitempty"`
	Targets []string `json:"targets,omitempty"` // resource addresses, as -target has them
	Replace []string `json:"replace,omitempty"` // as -replace has them
	// NoRefresh plans against the state as it is, as -refresh=false does.
	NoRefresh bool `json:"no_refresh,omitempty"`
	// AutoApprove applies without a question, where the workspace lets its caller do so.
	AutoApprove bool `json:"auto_approve,omitempty"`
	// Reconcile is a UUID that the runs have in common which a reconcile has ordered.
	Reconcile string `json:"reconcile,omitempty"`
}

// Run is one run: it plans, and perhaps applies exactly that plan.
type Run struct {
	ID        string `json:"id"` // a ULID: sorts by time
	Workspace string `json:"workspace"`
	Kind      string `json:"kind" enum:"RunKind"`       // plan, apply, destroy, refresh or drift
	Status    string `json:"status" enum:"RunProgress"` // see docs/runs.md
	// prepare, init, plan, show, check, apply, output; empty before the first
	Phase string `json:"phase"`
	// MovedAt is when the run came to its status and phase; absent where that is not known.
	MovedAt *time.Time `json:"moved_at,omitempty"`
	// Reason says why the run is where it is: what it waits for, behind whom, why it failed.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Trigger Actor  `json:"trigger"`
	RetryOf string `json:"retry_of,omitempty"`
	// Follows is the run behind which the server has made this one by itself, FollowedBy the one
	// that it makes behind this one.
	Follows    string `json:"follows,omitempty"`
	FollowedBy string `json:"followed_by,omitempty"`
	Attempt    int    `json:"attempt"` // from 1

	Snapshot    string   `json:"snapshot"`
	Targets     []string `json:"targets,omitempty"`
	Replace     []string `json:"replace,omitempty"`
	NoRefresh   bool     `json:"no_refresh,omitempty"`
	AutoApprove bool     `json:"auto_approve,omitempty"`
	// Reconcile is what the runs have in common that one reconcile of enclaves has ordered.
	Reconcile string `json:"reconcile,omitempty"`
	// Elsewhere says that somebody makes the run on a machine of theirs, and that this is the record of it.
	Elsewhere bool `json:"elsewhere,omitempty"`

	// Pin is what the plan was made of, and what is approved; absent before there is a plan.
	Pin *Pin `json:"pin,omitempty"`
	// Counts is absent before there is a plan.
	Counts *RunCounts `json:"counts,omitempty"`
	// Stale says that the plan can't be applied any more, and why.
	Stale     *Stale     `json:"stale,omitempty"`
	Approvals []Approval `json:"approvals,omitempty"`
	// Needed is how many approvals the run needs in all; 0 where nobody has to.
	Needed int `json:"approvals_needed,omitempty"`
	// Gates is why the plan waits for somebody who may approve, by the workspace's gates; not in lists.
	Gates []GateReason `json:"gate_reasons,omitempty"`
	// Asks is whose yes the plan waits for, and whether the caller's is one; in the answer about one run alone, while
	// the run waits for people.
	Asks *RunAsks `json:"asks,omitempty"`
	// Outside is how far a service outside has decided on the plan; absent where none is asked.
	Outside *OutsideDecision `json:"outside_decision,omitempty"`
	Cancel  *Cancel          `json:"cancel,omitempty"`

	Executor *Executor `json:"executor,omitempty"` // who has it, or had it last
	ExitCode *int      `json:"exit_code,omitempty"`
	// Before and After are the state's versions: that the plan was made on, and that the apply
	// left behind. 0 for none.
	Before uint64 `json:"version_before,omitempty"`
	After  uint64 `json:"version_after,omitempty"`
	// InFlight are the resources that the tool had begun and not finished, with since when.
	InFlight    []InFlight   `json:"in_flight,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`

	CreatedAt  time.Time  `json:"created_at"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	PlannedAt  *time.Time `json:"planned_at,omitempty"`
	DecidedAt  *time.Time `json:"decided_at,omitempty"`
	AppliedAt  *time.Time `json:"applied_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	// Phases is how long each phase took.
	Phases []PhaseTime `json:"phases,omitempty"`
}

// Actor is who did something.
type Actor struct {
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// Pin is what a plan was made of.
type Pin struct {
	Digest  string `json:"digest"`  // SHA-256 of all of it: what an approval names
	Changes string `json:"changes"` // keyed digest of the changes: equal for equal changes
	State   struct {
		Version uint64 `json:"version"` // 0 for a state that was absent
		Lineage string `json:"lineage,omitempty"`
		Serial  uint64 `json:"serial"`
		Digest  string `json:"digest,omitempty"`
	} `json:"state"`
	Config struct {
		Snapshot  string `json:"snapshot"`
		Directory string `json:"directory,omitempty"`
	} `json:"config"`
	Tool struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Digest  string `json:"digest"`
		System  string `json:"system"`          // such as linux_amd64
		Calls   *Tool  `json:"calls,omitempty"` // what Terragrunt has do the work
	} `json:"tool"`
	LockFile  string `json:"lock_file,omitempty"`  // SHA-256
	Inputs    string `json:"inputs"`               // keyed digest of variables and options
	Plan      string `json:"plan"`                 // SHA-256 of the plan file
	PlanFiles string `json:"plan_files,omitempty"` // SHA-256 of the archive of files that plan made
	// Policies is the SHA-256 of the bundles of policies that the plan was shown to; empty where there were none.
	Policies  string   `json:"policies,omitempty"`
	Unchecked []string `json:"unchecked,omitempty"` // parts that the server could not verify, as of an encrypted plan
}

// RunCounts is what a plan would do, as the tool counts it: a replacement is in Add and Destroy.
type RunCounts struct {
	Add     int  `json:"add"`
	Change  int  `json:"change"`
	Destroy int  `json:"destroy"`
	Replace int  `json:"replace"`
	Import  int  `json:"import"`
	Forget  int  `json:"forget"`
	Move    int  `json:"move"`
	Drift   int  `json:"drift"`
	Outputs int  `json:"outputs"`
	Any     bool `json:"any"` // whether there is anything to apply
}

// RunAsks is whose yes the plan of a run waits for.
type RunAsks struct {
	// Refused is why the caller's yes would not count; absent where it would.
	Refused string `json:"refused,omitempty"`
	// Of is some of those whose yes would: keys, and rules that let people in.
	Of   []Actor `json:"of"`
	More int     `json:"more,omitempty"` // others than those
}

// Stale is why a plan can't be applied any more.
type Stale struct {
	Since time.Time `json:"since"`
	// state, config, variables, settings, expired or approval
	Because string `json:"because" enum:"state|config|variables|settings|expired|approval"`
	// of the state that made it so
	Version uint64 `json:"version,omitempty"`
	// that was changed last of the settings and variables
	What string `json:"what,omitempty"`
	By   *Actor `json:"by,omitempty"`
}

// Approval is one decision about a plan.
type Approval struct {
	Digest   string    `json:"digest"` // of the pin that was decided on
	Approved bool      `json:"approved"`
	Reason   string    `json:"reason,omitempty"`
	By       Actor     `json:"by"`
	At       time.Time `json:"at"`
	// From is the run whose approval was carried over, because the changes are equal.
	From string `json:"from,omitempty"`
	// BreakGlass says that it was enough by itself, in an emergency, for the reason that it has.
	BreakGlass bool `json:"break_glass,omitempty"`
}

// GateReason is why a plan waits for a person whatever is applied without a question.
type GateReason struct {
	// Gate is findings, rules, irreversible, cost, changes for more of them than may be, condition, policies, or unread
	// for a plan that could not be looked at.
	Gate    string   `json:"gate" enum:"findings|rules|irreversible|cost|changes|condition|policies|unread"`
	Reason  string   `json:"reason"`
	Details []string `json:"details,omitempty"` // some of what it is about
	// Severity is that of the gravest finding, where it is about findings.
	Severity string `json:"severity,omitempty" enum:"critical|high"`
}

// Decision is the body of an approval or a denial.
type Decision struct {
	Digest string `json:"digest"` // of the pin
	Reason string `json:"reason,omitempty"`
	// BreakGlass has a yes be enough by itself, whoever asked for the run and however many approvals it needs, for who
	// has the right run:break_glass. It needs a reason.
	BreakGlass bool `json:"break_glass,omitempty"`
}

// Cancel is how far the cancelling of a run went.
type Cancel struct {
	Level string    `json:"level" enum:"soft|hard"` // soft or hard
	By    Actor     `json:"by"`
	At    time.Time `json:"at"`
	// Until is when a soft one becomes a hard one at the earliest.
	Until *time.Time `json:"until,omitempty"`
}

// CancelOrder is the body of a cancellation.
type CancelOrder struct {
	Level  string `json:"level,omitempty" enum:"soft|hard"` // soft, which is the default, or hard
	Reason string `json:"reason,omitempty"`
}

// ResolveOrder is how a named person ends a run whose executor is lost.
type ResolveOrder struct {
	Reason string `json:"reason"`
}

// Executor is who runs, and what is known of it.
type Executor struct {
	Agent   string     `json:"agent"` // ID; "builtin" for the server's own
	Name    string     `json:"name,omitempty"`
	Epoch   int64      `json:"epoch"`
	Lease   *time.Time `json:"lease_until,omitempty"`
	Seen    *time.Time `json:"seen_at,omitempty"`
	Sandbox *Sandbox   `json:"sandbox,omitempty"`
}

// Sandbox is what was closed to a run's commands.
type Sandbox struct {
	Level   string   `json:"level" enum:"SandboxLevel"`        // none, weak, landlock or namespaces
	Network string   `json:"network" enum:"open|ports|closed"` // open, ports or closed
	Why     []string `json:"why,omitempty"`
}

// InFlight is a resource that the tool has begun and not finished.
type InFlight struct {
	Address string    `json:"address"`
	Action  string    `json:"action"`
	Since   time.Time `json:"since"`
}

// Diagnostic is an error or a warning of the tool's.
type Diagnostic struct {
	Severity string `json:"severity" enum:"error|warning"` // error or warning
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	Address  string `json:"address,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// PhaseTime is how long a phase took.
type PhaseTime struct {
	Phase   string  `json:"phase" enum:"PhaseName"`
	Attempt int     `json:"attempt"`
	Seconds float64 `json:"seconds"`
	Outcome string  `json:"outcome" enum:"succeeded|failed|cancelled|lost"` // succeeded, failed or cancelled
	Work
}

// Work is what a phase did with resources, as far as the tool says; absent where it did nothing.
type Work struct {
	Resources int     `json:"resources,omitempty"`            // actions on resources that have ended
	PerSecond float64 `json:"resources_per_second,omitempty"` // of those, on average
	// Slowest are those that took longest, the longest first.
	Slowest []ResourceTime `json:"slowest,omitempty"`
}

// ResourceTime is how long an action on a resource took.
type ResourceTime struct {
	Address string  `json:"address"`
	Action  string  `json:"action"`
	Seconds float64 `json:"seconds"`
}

// RunEvents is what happened to a run, in order.
type RunEvents struct {
	Next   *int64     `json:"next"` // continue behind this sequence; null at the end
	Events []RunEvent `json:"events"`
}

// RunEvent is one thing that happened to a run.
type RunEvent struct {
	Sequence  int64     `json:"sequence"` // from 1, within the run
	At        time.Time `json:"at"`
	Type      string    `json:"type"`
	From      string    `json:"from,omitempty" enum:"RunProgress"` // status before
	To        string    `json:"to,omitempty" enum:"RunProgress"`   // status after
	Epoch     int64     `json:"epoch"`
	By        Actor     `json:"by"`
	RequestID string    `json:"request_id,omitempty"`
	Note      string    `json:"note,omitempty"`
}

// RunChanges is what a plan would change; sensitive values are masked.
type RunChanges struct {
	Counts  RunCounts         `json:"counts"`
	Changes []RunChange       `json:"changes"`
	Drift   []RunChange       `json:"drift"`
	Outputs []RunOutputChange `json:"outputs"`
	// Cut says that there were more than are kept.
	Cut bool `json:"cut,omitempty"`
}

// RunChange is one resource's change.
type RunChange struct {
	Address  string          `json:"address"`
	Previous string          `json:"previous_address,omitempty"`
	Deposed  string          `json:"deposed,omitempty"`
	Mode     string          `json:"mode" enum:"ResourceMode"`
	Type     string          `json:"type"`
	Name     string          `json:"name"`
	Provider string          `json:"provider"`
	Actions  []string        `json:"actions"`
	Reason   string          `json:"reason,omitempty"`
	Because  []string        `json:"replace_because,omitempty"` // attribute paths
	Import   string          `json:"import,omitempty"`
	Before   json.RawMessage `json:"before"`
	After    json.RawMessage `json:"after"`
	Unknown  json.RawMessage `json:"after_unknown,omitempty"`
}

// RunOutputChange is one output's change; sensitive values are masked.
type RunOutputChange struct {
	Name      string          `json:"name"`
	Actions   []string        `json:"actions"`
	Sensitive bool            `json:"sensitive"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
}

// RunOutputs are the outputs an apply left behind that the workspace declares, or all where it
// declares none; sensitive values are masked.
type RunOutputs struct {
	Outputs []RunOutput `json:"outputs"`
	Missing []string    `json:"missing,omitempty"` // declared, and not there
}

// RunOutput is one of them.
type RunOutput struct {
	Name      string          `json:"name"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value"`
	// Withheld says that the value is for who has state:outputs of the workspace's state.
	Withheld bool `json:"withheld,omitempty"`
}

// LogBytes is the data of an event "log" of a stream: bytes of a log as the tool has printed them.
type LogBytes struct {
	Attempt int    `json:"attempt"`
	Offset  int64  `json:"offset"` // of the first of them, within the attempt's log
	Bytes   []byte `json:"bytes"`  // base64
	// Stage is plan or apply, in a stream that has the logs of both.
	Stage string `json:"stage,omitempty"`
}

// RunStatus is the data of the events "status" and "end" of a stream.
type RunStatus struct {
	Status  string `json:"status" enum:"RunProgress"`
	Phase   string `json:"phase"`
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason,omitempty"`
}

package api

import "time"

// Workspaces is a page of the list of workspaces, by name.
type Workspaces struct {
	Next       *string     `json:"next"` // the next page's cursor; null at the end
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace is what is kept of a workspace beside its state.
type Workspace struct {
	Name     string            `json:"name"` // also the state's
	Settings WorkspaceSettings `json:"settings"`
	// Revision grows with each change of settings or variables, the organization's too.
	Revision int64 `json:"revision"`
	// Snapshot is the newest configuration; absent while there is none.
	Snapshot  *Snapshot `json:"snapshot,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy Actor     `json:"updated_by"`
	// PausedReason is why nothing is tried again by itself until somebody asks for a run or brings
	// another configuration; in the answer about one workspace alone.
	PausedReason string `json:"paused_reason,omitempty"`
}

// WorkspaceSettings say how a workspace's runs are made. Times are in seconds.
type WorkspaceSettings struct {
	Tool        string   `json:"tool" enum:"ToolName"`  // opentofu, terraform, terragrunt or engine
	Version     string   `json:"version,omitempty"`     // constraint, such as "1.12.6" or ">= 1.9, < 2.0"
	Directory   string   `json:"directory,omitempty"`   // within the configuration
	Pool        string   `json:"pool,omitempty"`        // of agents; absent for the server's own executor
	Parallelism int      `json:"parallelism,omitempty"` // absent for the tool's own default
	Outputs     []string `json:"outputs,omitempty"`     // that an apply has to leave behind
	// Reads are patterns of the states whose outputs runs may read, by `terraform_remote_state`.
	Reads []string `json:"reads,omitempty"`

	PlanTimeout  int64 `json:"plan_timeout"`
	ApplyTimeout int64 `json:"apply_timeout"`
	PlanGrace    int64 `json:"plan_grace"` // after a soft cancellation
	ApplyGrace   int64 `json:"apply_grace"`

	AutoApply      string `json:"auto_apply" enum:"never|no-changes|always"` // never, no-changes or always
	Approvals      int    `json:"approvals"`                                 // that a plan needs
	AllowAuthor    bool   `json:"allow_author"`
	CarryApprovals bool   `json:"carry_approvals"` // to a plan with equal changes
	PlanTTL        int64  `json:"plan_ttl"`
	ApprovalTTL    int64  `json:"approval_ttl"`

	Gate             string `json:"gate" enum:"none|critical|high"` // findings that a plan waits for a person for
	GateIrreversible bool   `json:"gate_irreversible"`              // a plan that can't be undone waits
	GateMonthlyCost  int64  `json:"gate_monthly_cost"`              // in dollars more than before; 0 for none
	// GateWhen is a condition, in the Common Expression Language, of plans that wait; empty for none.
	GateWhen string `json:"gate_when,omitempty"`
	// ApprovalsFor is how many different people have to approve a plan that is held, by what holds it: critical,
	// findings, rules, irreversible, cost, condition, policies, unread. The most of them counts, and approvals.
	ApprovalsFor map[string]int `json:"approvals_for,omitempty"`
	// ApproversFor is whose yes counts for a plan that is held, by what holds it: IDs of keys and of rules for tokens and
	// certificates, or ID/SUBJECT. For what is not named, everybody's counts who may approve.
	ApproversFor map[string][]string `json:"approvers_for,omitempty"`

	Protected  bool   `json:"protected"`                       // from being destroyed
	MinSandbox string `json:"min_sandbox" enum:"SandboxLevel"` // none, weak, landlock or namespaces
}

// WorkspaceChange makes or changes a workspace. What is absent stays as it is, or has its
// default in a new one.
type WorkspaceChange struct {
	Name string `json:"name,omitempty"` // of a new one

	Tool        *string   `json:"tool,omitempty" enum:"ToolName"`
	Version     *string   `json:"version,omitempty"`
	Directory   *string   `json:"directory,omitempty"`
	Pool        *string   `json:"pool,omitempty"`
	Parallelism *int      `json:"parallelism,omitempty"`
	Outputs     *[]string `json:"outputs,omitempty"`
	// Reads takes the place of all that there are. Who names a pattern may read the outputs of all that it matches.
	Reads *[]string `json:"reads,omitempty"`

	PlanTimeout  *int64 `json:"plan_timeout,omitempty"`
	ApplyTimeout *int64 `json:"apply_timeout,omitempty"`
	PlanGrace    *int64 `json:"plan_grace,omitempty"`
	ApplyGrace   *int64 `json:"apply_grace,omitempty"`

	AutoApply      *string `json:"auto_apply,omitempty" enum:"never|no-changes|always"`
	Approvals      *int    `json:"approvals,omitempty"`
	AllowAuthor    *bool   `json:"allow_author,omitempty"`
	CarryApprovals *bool   `json:"carry_approvals,omitempty"`
	PlanTTL        *int64  `json:"plan_ttl,omitempty"`
	ApprovalTTL    *int64  `json:"approval_ttl,omitempty"`

	Gate             *string `json:"gate,omitempty" enum:"none|critical|high"`
	GateIrreversible *bool   `json:"gate_irreversible,omitempty"`
	GateMonthlyCost  *int64  `json:"gate_monthly_cost,omitempty"`
	GateWhen         *string `json:"gate_when,omitempty"`
	// ApprovalsFor takes the place of all that there are.
	ApprovalsFor *map[string]int `json:"approvals_for,omitempty"`
	// ApproversFor takes the place of all that there are.
	ApproversFor *map[string][]string `json:"approvers_for,omitempty"`

	Protected  *bool   `json:"protected,omitempty"`
	MinSandbox *string `json:"min_sandbox,omitempty" enum:"SandboxLevel"`
}

// Variables are those of a workspace, and of its organization, or the organization's alone.
type Variables struct {
	Revision  int64      `json:"revision"` // of the workspace, or of the organization's variables
	Variables []Variable `json:"variables"`
}

// Variable is one of them.
type Variable struct {
	Kind      string `json:"kind" enum:"terraform|environment"` // terraform or environment
	Name      string `json:"name"`
	HCL       bool   `json:"hcl"` // the value is an expression, not a text
	Sensitive bool   `json:"sensitive"`
	// Value is null where it is sensitive: it is never shown.
	Value *string `json:"value"`
	// Scope is workspace or organization.
	Scope string `json:"scope" enum:"workspace|organization"`
	// Overridden says that the workspace has one of its own, which counts.
	Overridden bool      `json:"overridden,omitempty"`
	UpdatedAt  time.Time `json:"updated_at"`
	UpdatedBy  Actor     `json:"updated_by"`
}

// VariablesChange sets and unsets variables, all of them or none.
type VariablesChange struct {
	Set   []VariableValue `json:"set,omitempty"`
	Unset []VariableKey   `json:"unset,omitempty"`
}

// VariableKey names a variable.
type VariableKey struct {
	Kind string `json:"kind" enum:"terraform|environment"`
	Name string `json:"name"`
}

// VariableValue is a variable's value, which is a secret where it is sensitive.
type VariableValue struct {
	Kind      string `json:"kind" enum:"terraform|environment"`
	Name      string `json:"name"`
	Value     string `json:"value"`
	HCL       bool   `json:"hcl,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Snapshots is a page of the configurations that a workspace has had, the newest first.
type Snapshots struct {
	Next      *string    `json:"next"` // the next page's cursor; null at the end
	Snapshots []Snapshot `json:"snapshots"`
}

// Snapshot describes an immutable set of files.
type Snapshot struct {
	Number    int64     `json:"number"` // from 1, within the workspace
	ID        string    `json:"id"`     // SHA-256 of the list of its files: equal for equal files
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Message   string    `json:"message,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy Actor     `json:"created_by"`
}

// SnapshotFiles is a snapshot with its files.
type SnapshotFiles struct {
	Snapshot Snapshot       `json:"snapshot"`
	Files    []SnapshotFile `json:"files"` // by path
}

// SnapshotFile is one of them.
type SnapshotFile struct {
	Path       string `json:"path"`
	Executable bool   `json:"executable,omitempty"`
	Size       int64  `json:"size"`
	SHA256     string `json:"sha256"`
}

// SnapshotOrder makes a snapshot of files whose contents the server has. Sizes are not looked at.
type SnapshotOrder struct {
	Files   []SnapshotFile `json:"files" absent:"no files"`
	Message string         `json:"message,omitempty"`
	// Parent is the number of the snapshot that it builds on, 0 for none: if another one is the
	// newest by now, nothing is stored. Absent for whatever there is.
	Parent *int64 `json:"parent,omitempty"`
}

// Checksums asks which contents the server has not, by their SHA-256.
type Checksums struct {
	SHA256 []string `json:"sha256" absent:"none"`
}

// MissingContents are those that have to be sent.
type MissingContents struct {
	Missing []string `json:"missing"`
}

// FileChecksums has the SHA-256 of each file of a snapshot, by path.
type FileChecksums struct {
	Snapshot  string            `json:"snapshot"`
	Checksums map[string]string `json:"checksums"`
}

// PullOrder asks for files with their contents.
type PullOrder struct {
	Snapshot string   `json:"snapshot,omitempty"` // number or ID; absent for the newest
	Paths    []string `json:"paths,omitempty"`    // absent for all
}

// PulledFiles are files with their contents.
type PulledFiles struct {
	Snapshot string       `json:"snapshot"`
	Files    []PulledFile `json:"files"`
}

// PulledFile is one of them.
type PulledFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	// Content is the text; for a file that is no text, Base64 has its bytes.
	Content string `json:"content"`
	Base64  string `json:"base64,omitempty"`
}

// SnapshotDiff says how two snapshots differ.
type SnapshotDiff struct {
	From  int64            `json:"from"` // number; 0 for nothing
	To    int64            `json:"to"`
	Files []FileDifference `json:"files"` // by path
}

// FileDifference is a file that differs.
type FileDifference struct {
	Path   string `json:"path"`
	How    string `json:"how" enum:"added|removed|modified"` // added, removed or modified
	Before string `json:"before,omitempty"`                  // SHA-256
	After  string `json:"after,omitempty"`                   // SHA-256
}

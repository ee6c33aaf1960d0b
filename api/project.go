package api

import (
	"encoding/json"
	"time"
)

// The shapes of /api/v1/infra/{project}: workspaces and runs by the names that users of projects know.
// A project is a workspace, addressed by its name or by its ID.

// ProjectFiles are a project's files with their contents, by name.
type ProjectFiles struct {
	Files []ProjectFile `json:"files"`
	// Checksums has the SHA-256 of each file's content in hexadecimal, by name.
	Checksums ProjectChecksums `json:"checksums"`
}

// ProjectChecksums has the SHA-256 of each file's content in hexadecimal, by name.
type ProjectChecksums map[string]string

// ProjectFile is one of a project's files.
type ProjectFile struct {
	ID        string `json:"id"`        // a UUID; the same for as long as the file has its name
	ProjectID string `json:"projectId"` // the project's UUID
	Name      string `json:"name"`      // such as main.tf; a path within the project
	Content   string `json:"content"`
	// Base64 has the bytes of a file that is no text, and whose content is empty therefore.
	Base64 string `json:"base64,omitempty"`
	// UpdatedAt is when the newest configuration was brought, CreatedAt when the project was made: files have no
	// times of their own.
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// ProjectFileOrder creates or replaces a file.
type ProjectFileOrder struct {
	Name    string `json:"name"`
	Content string `json:"content" absent:"an empty file"`
}

// ProjectFileDone is the answer to a change of a file.
type ProjectFileDone struct {
	File     ProjectFile      `json:"file"`     // as it is, or was before it was deleted, without its content then
	Checksum ProjectChecksums `json:"checksum"` // of this file alone; empty once it is deleted
}

// ProjectPull is a project's files with their contents and nothing else, for a folder.
type ProjectPull struct {
	Files []ProjectPulled `json:"files"`
}

// ProjectPulled is one of them.
type ProjectPulled struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	// Base64 has the bytes of a file that is no text, and whose content is empty therefore.
	Base64 string `json:"base64,omitempty"`
}

// ProjectRunOrder asks for a run.
type ProjectRunOrder struct {
	Mode string `json:"mode" enum:"plan|apply"` // plan or apply
	// PlanRunID is the plan that an apply goes on from, for people; absent for the project's newest plan of the
	// same files. The apply makes a plan of its own, and applies exactly that.
	PlanRunID string `json:"planRunId,omitempty"`
}

// ProjectRuns is a page of the list of a project's runs, the newest first.
type ProjectRuns struct {
	Runs   []ProjectRunBrief `json:"runs"`
	Limit  int               `json:"limit"`
	Offset int               `json:"offset"`
	// More says that there are older ones.
	More bool `json:"more"`
}

// ProjectRunBrief is a run, short of its log, plan and files.
type ProjectRunBrief struct {
	ID        string `json:"id"`
	ProjectID string `json:"projectId"`                                                      // the project's UUID
	Project   string `json:"project"`                                                        // its name
	Type      string `json:"type" enum:"plan|apply"`                                         // plan or apply
	Status    string `json:"status" enum:"pending|running|success|failed|awaiting_approval"` // the words of projects
	// Reason says why the run is where it is, for people.
	Reason string `json:"reason,omitempty"`
	// Counts is null before there is a plan.
	Counts *ProjectCounts `json:"counts"`
	// TriggeredBy is the subject of who asked, else the name or the ID of the key.
	TriggeredBy string `json:"triggeredBy"`
	// PlanRunID is the plan before an apply; null for a plan, or where there is none of the same files.
	PlanRunID *string `json:"planRunId"`
	// Digest names what is to be approved; null while nothing is.
	Digest *string `json:"digest"`
	// Decision is approved or denied, of the last who decided; null while nobody has.
	Decision  *string    `json:"decision" enum:"approved|denied"`
	DecidedBy *string    `json:"decidedBy"`
	DecidedAt *time.Time `json:"decidedAt"`
	// DecisionReason is what they have said.
	DecisionReason string `json:"decisionReason,omitempty"`
	// ApprovalsNeeded is how many approvals the run needs in all, Approvals how many it has.
	ApprovalsNeeded int       `json:"approvalsNeeded"`
	Approvals       int       `json:"approvals"`
	CreatedAt       time.Time `json:"createdAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
}

// ProjectCounts is what a run's plan changes. A replacement is in Added and Destroyed.
type ProjectCounts struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Destroyed int `json:"destroyed"`
}

// ProjectRun is a run with all that is known of it.
type ProjectRun struct {
	ProjectRunBrief
	// Logs is what the tool has printed, of the plan and then of the apply. Where the caller sees no state, lines
	// with values are left out.
	Logs string `json:"logs"`
	// LogsCut says that there is more than is told here; the run's own routes have all of it.
	LogsCut bool `json:"logsCut,omitempty"`
	// PlanJSON is null before there is a plan.
	PlanJSON *ProjectPlan `json:"planJson"`
	// FileSnapshot has the contents of the files that the run was made with, by name; files that are no text are
	// not in it. Null when it isn't kept any more.
	FileSnapshot *ProjectTexts `json:"fileSnapshot"`
	// FilesCut says that some contents are left out, because all are too large for one answer.
	FilesCut bool `json:"filesCut,omitempty"`
	// AISummary is what the plan means, without a model: null while there is none, or where it is too large.
	AISummary *ProjectInsight `json:"aiSummary"`
}

// ProjectTexts are the contents of files, by name.
type ProjectTexts map[string]string

// ProjectPlan is what a plan changes, in the form in which `tofu show -json` says it. Sensitive values are masked.
type ProjectPlan struct {
	ResourceChanges []ProjectChange                `json:"resource_changes"`
	ResourceDrift   []ProjectChange                `json:"resource_drift"`
	OutputChanges   map[string]ProjectOutputChange `json:"output_changes"`
	// Masked says that no value is shown at all, as state_access of the project has it.
	Masked bool `json:"masked,omitempty"`
	// Cut says that there were more changes than are kept.
	Cut bool `json:"cut,omitempty"`
}

// ProjectChange is one resource's change.
type ProjectChange struct {
	Address         string              `json:"address"`
	PreviousAddress string              `json:"previous_address,omitempty"`
	Deposed         string              `json:"deposed,omitempty"`
	Mode            string              `json:"mode" enum:"ResourceMode"`
	Type            string              `json:"type"`
	Name            string              `json:"name"`
	ProviderName    string              `json:"provider_name"`
	ActionReason    string              `json:"action_reason,omitempty"`
	Change          ProjectChangeValues `json:"change"`
}

// ProjectChangeValues is what is done to a resource. Values are null where they are masked.
type ProjectChangeValues struct {
	Actions      []string        `json:"actions"` // no-op, create, read, update, delete or forget
	Before       json.RawMessage `json:"before"`
	After        json.RawMessage `json:"after"`
	AfterUnknown json.RawMessage `json:"after_unknown,omitempty"`
}

// ProjectOutputChange is one output's change. Values are null where they are masked.
type ProjectOutputChange struct {
	Actions   []string        `json:"actions"`
	Sensitive bool            `json:"sensitive"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
}

// ProjectInsight is what was found out about a plan.
type ProjectInsight struct {
	Summary  string          `json:"summary"` // Markdown
	Costs    ProjectCosts    `json:"costs"`
	Security ProjectSecurity `json:"security"`
}

// ProjectCosts is what a plan costs.
type ProjectCosts struct {
	Estimated    []ProjectCost        `json:"estimated"`
	AIEstimated  []ProjectCostGuessed `json:"aiEstimated"`
	TotalMonthly string               `json:"totalMonthly"`
	DeltaMonthly string               `json:"deltaMonthly"`
}

// ProjectCost is a resource's, by a list of prices.
type ProjectCost struct {
	Resource    string `json:"resource"`
	MonthlyCost string `json:"monthlyCost"`
	Source      string `json:"source"`
}

// ProjectCostGuessed is a resource's, as it was guessed.
type ProjectCostGuessed struct {
	Resource    string `json:"resource"`
	MonthlyCost string `json:"monthlyCost"`
	Confidence  string `json:"confidence" enum:"high|medium|low"`
}

// ProjectSecurity is what a plan has of security issues.
type ProjectSecurity struct {
	Issues []ProjectIssue `json:"issues"`
	// ShouldApprove says that an apply needs somebody's approval.
	ShouldApprove bool `json:"shouldApprove"`
}

// ProjectIssue is one of them.
type ProjectIssue struct {
	Severity       string `json:"severity" enum:"critical|high|medium|low"`
	Resource       string `json:"resource"`
	Description    string `json:"description"`
	Recommendation string `json:"recommendation"`
}

// ProjectDecision is the body of an approval or a denial, which may be left out.
type ProjectDecision struct {
	// Digest is the run's, so that nobody approves what they have not seen; absent for the run's plan as it is.
	Digest string `json:"digest,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ProjectEvent is one message of a run's stream, a JSON text of the WebSocket.
type ProjectEvent struct {
	// Type is run (the first: which run it is), log, status, result (the last) or error (the last, too).
	Type string `json:"type" enum:"run|log|status|result|error"`
	// Position is where to go on from after this message, in the query of another stream.
	Position string `json:"position,omitempty"`
	// Data is a piece of the log, in messages of type log.
	Data string `json:"data,omitempty"`
	// Run is in messages of type run and status.
	Run *ProjectRunBrief `json:"run,omitempty"`
	// Result is the whole run, in messages of type result; its logs are empty, they were sent.
	Result *ProjectRun `json:"result,omitempty"`
	// Error is in messages of type error.
	Error *ProjectError `json:"error,omitempty"`
}

// ProjectError is why a stream ends without a result.
type ProjectError struct {
	Code    string `json:"code"` // as those of other answers, such as run_in_progress
	Message string `json:"message"`
}

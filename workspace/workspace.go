package workspace

import (
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Ref addresses a workspace. The empty Name stands for what all workspaces of the organization
// share, where that makes sense. No operation of a Store ever looks at, or changes, anything of
// another organization than Ref.Org.
type Ref struct {
	Org  uuid.UUID
	Name state.Name
}

// ID is a workspace's UUID, for those who know it by one. It follows from the name: a workspace has had it since it
// was made, and another one that gets its name has it too, as it has the state.
func (r Ref) ID() uuid.UUID { return uuid.NewSHA1(r.Org, []byte("workspace/"+string(r.Name))) }

// Workspace is a workspace without its variables and files.
type Workspace struct {
	Ref
	Settings Settings
	// Revision grows with each change of the settings or of the variables, the organization's
	// too. It says whether a plan was made with what there is now.
	Revision  int64
	Newest    Entry // the snapshot that runs use; its Number is 0 while there is none
	CreatedAt time.Time
	UpdatedAt time.Time // of the settings or the workspace's own variables
	UpdatedBy Actor
	// Paused is why nothing is tried by itself any more; Get alone fills it.
	Paused string
}

// Actor is who did something.
type Actor struct {
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// ActorOf returns who a principal is.
func ActorOf(p auth.Principal) Actor { return Actor{p.KeyID, p.KeyName, p.Subject} }

// The audit log's actions.
const (
	ActionCreate    audit.Action = "workspace.create"
	ActionSettings  audit.Action = "workspace.settings"
	ActionDelete    audit.Action = "workspace.delete"
	ActionVariables audit.Action = "workspace.variables"
	ActionConfigure audit.Action = "workspace.configure" // it got another snapshot
)

func errNotFound(name state.Name) error {
	return fault.New(fault.WorkspaceNotFound, "there is no workspace %q", name)
}

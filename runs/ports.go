package runs

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/seal"
)

// Workspaces is what runs need of workspaces. It has no caller of its own: Service has asked
// the gate before.
type Workspaces interface {
	// Workspace returns what a workspace wants of a run that begins now, or its fault when there
	// is none of this name.
	Workspace(ctx context.Context, org uuid.UUID, name string) (Workspace, error)
	// Inputs returns the variables with their values, which are secrets.
	Inputs(ctx context.Context, org uuid.UUID, name string) (Inputs, error)
	// Files returns the SHA-256 of each file of a snapshot, by its path; its fault when there is
	// no such snapshot of the workspace.
	Files(ctx context.Context, org uuid.UUID, workspace, snapshot string) (map[string]string, error)
	// PlanOnly returns why a snapshot may be planned and not applied; empty where it may be applied.
	PlanOnly(ctx context.Context, org uuid.UUID, workspace, snapshot string) (string, error)
	// WriteArchive writes a snapshot as a tar archive.
	WriteArchive(ctx context.Context, org uuid.UUID, workspace, snapshot string, w io.Writer) error
}

// Workspace is what a run needs to know of its workspace.
type Workspace struct {
	Terms     Terms
	Pool      string // empty for the server's own executor
	Snapshot  string // the newest; empty while there is none
	Protected bool   // from being destroyed
	// Changed is the last change of the settings or of the workspace's own variables.
	Changed Changed
}

// Changed is who has changed something, and when.
type Changed struct {
	What string // such as a variable, for people; empty for the settings or variables
	By   api.Actor
	At   time.Time
}

// Inputs are a workspace's variables.
type Inputs struct {
	Revision    int64 // of the workspace, that they are of
	Variables   []api.Input
	Environment []api.Input
	Digest      string  // keyed
	Changed     Changed // the last change of a variable that is there, the organization's too
}

// States is what runs need of states. Only the server itself calls it, never for a request.
type States interface {
	// Head returns the newest version; the zero Base where there is no state.
	Head(ctx context.Context, org uuid.UUID, name string) (Base, error)
	// Fence says which run and epoch may write the state, and whether it may still.
	Fence(ctx context.Context, org uuid.UUID, name, run string, epoch int64, open bool) error
	// ReleaseFor frees the lock that the run holds, if it holds one.
	ReleaseFor(ctx context.Context, org uuid.UUID, name, run, reason string) error
	// Seen is a sign of life of the run that holds the lock.
	Seen(ctx context.Context, org uuid.UUID, name, run string, epoch int64) error
}

// Seals is what encrypts logs and files. *seal.Sealer is one.
type Seals interface {
	Seal(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, plain []byte) ([]byte, error)
	Open(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, sealed []byte) ([]byte, error)
	Sum(ctx context.Context, org uuid.UUID, kind seal.Kind, data ...[]byte) ([32]byte, error)
	SealPieces(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, r io.Reader,
		put func(index int, sealed []byte) error) error
	OpenPieces(ctx context.Context, org uuid.UUID, kind seal.Kind, name string,
		get func(index int) ([]byte, error)) io.Reader
}

// Tokens makes the tokens of runs.
type Tokens interface {
	// Sign returns a token for the run as it is, of its epoch and stage: for its executor, or for
	// the tool that this one starts, which may use the state and nothing else. For the same claim
	// of a run it is the same again.
	Sign(run Run, tool bool) (string, error)
}

// Insights says what plans mean.
type Insights interface {
	// Policies returns the bundles of policies that count for a workspace now.
	Policies(ctx context.Context, org uuid.UUID, workspace string) (Policies, error)
	// Held returns why a plan has to wait for a person by the gates and by these policies, or may not be
	// applied at all; nothing where it need not. It waits for a place among the plans that are looked at, but not
	// in a context of budget.AtOnce: its fault there is Overloaded. It holds nothing when it has returned.
	Held(ctx context.Context, plan PlanJSON, gates Gates, policies Policies) (Verdict, error)
	// Told returns what a plan means without anything that may be a value of it, and cut where it is long.
	Told(ctx context.Context, plan PlanJSON, policies Policies) (*api.Insight, error)
}

// Policies are bundles of policies as they are at one moment.
type Policies interface {
	// Digest tells them from any others; empty for none.
	Digest() string
	// Gates reports whether a plan may be held because of them, or refused, and Refuses the latter.
	Gates() bool
	Refuses() bool
}

// Verdict is what becomes of a plan by gates and policies.
type Verdict struct {
	Reasons []api.GateReason // why it waits for a person
	Refused string           // why it is not applied at all; empty where it may be
	Confirm string           // why it waits at least for who may apply; empty where it need not
}

// Tools are those of the server's own executor.
type Tools interface {
	// Offers returns a fault if it is clear before the configuration is looked at that the
	// executor has no tool of this name with a version that fits the constraint, which stands in
	// the place of the version: ToolUnavailable, or ToolConstraintInvalid.
	Offers(ctx context.Context, want api.Tool) error
}

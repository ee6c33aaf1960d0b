package layers

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// Repositories is what layers need of repositories. It has no caller of its own: Service has asked the gate before.
type Repositories interface {
	// Head returns the newest known commit of a branch, or its fault where there is no such repository, or, with
	// ErrNoBranch, branch; and why the repository could not be fetched when that was tried last, empty where it was.
	Head(ctx context.Context, org uuid.UUID, repository, branch string) (head Commit, trouble string, err error)
	// Between returns the commits behind one and up to another, the newest first, with the paths that each changes. It
	// is ErrApart where the one before is not behind the other, or too far.
	Between(ctx context.Context, org uuid.UUID, repository, from, to string) ([]CommitPaths, error)
	// Differences returns the paths in which two commits differ; ErrApart where they can't be compared, or in too many.
	Differences(ctx context.Context, org uuid.UUID, repository, from, to string) ([]string, error)
	// Read calls read with the files of a commit. It returns read's error.
	Read(ctx context.Context, org uuid.UUID, repository, commit string, read func(fs.FS) error) error
	// Archive writes folders and files of a commit as a tar; the folder "." is all of it.
	Archive(ctx context.Context, org uuid.UUID, repository, commit string, folders, files []string, w io.Writer) error
}

// CommitPaths is a commit with the paths that it changes.
type CommitPaths struct {
	Commit
	Subject string
	Paths   []string
}

// Workspaces is what layers need of workspaces.
type Workspaces interface {
	// Make makes the workspace of a layer, or sets the folder that its tool works in where there is one, as the caller.
	Make(ctx context.Context, p auth.Principal, name string, t Tooling, folder string) error
	// Tooling returns what a workspace has of it; nothing where there is no workspace.
	Tooling(ctx context.Context, p auth.Principal, name string) (Tooling, error)
	// Bring makes a snapshot of what write writes, a tar, the workspace's newest, and returns its ID. For what is the
	// newest already, that is returned.
	Bring(ctx context.Context, org uuid.UUID, name, message string, write func(io.Writer) error) (snapshot string,
		err error)
}

// Tooling is what a layer says of its workspace's runs. What is empty leaves what there is.
type Tooling struct {
	Tool, Version string
	// Reads are patterns of the states whose outputs runs may read; nil leaves what there is, an empty list takes it away.
	Reads []string
}

// changes reports whether a workspace that has this is changed by it.
func (t Tooling) changes(has Tooling) bool {
	return t.Tool != "" && t.Tool != has.Tool || t.Version != "" && t.Version != has.Version ||
		t.Reads != nil && !slices.Equal(t.Reads, has.Reads)
}

// Runs is what layers need of runs.
type Runs interface {
	// Begin makes a run, once for each key, and returns its ID.
	Begin(ctx context.Context, o Order) (run string, err error)
	// Outcome says where a run is. What follows it by itself, to do the same, counts as the same run.
	Outcome(ctx context.Context, org uuid.UUID, run string) (Outcome, error)
	// Supersede has a run that waits for a person be stale, and says why. One that doesn't wait goes on; an absent one is
	// fine.
	Supersede(ctx context.Context, org uuid.UUID, run, why string) error
	// Found returns what a check has found.
	Found(ctx context.Context, org uuid.UUID, run string) (CheckResult, error)
	// State says where the state of a layer is, and who has left it there.
	State(ctx context.Context, ref Ref) (StateFact, error)
	// Share is how many checks for drift of an organization may go on at once.
	Share() int
}

// Inventory is what layers need of the inventory of resources.
type Inventory interface {
	// Claims returns which other states, and which uploads, say that they have resources of a state, by their addresses:
	// those that the caller may see.
	Claims(ctx context.Context, p auth.Principal, name string, addresses []string) (map[string][]Claim, error)
}

// Claim is another state, or an upload, that says it has a resource.
type Claim struct {
	Upload bool
	Name   string // of the state, or the address of the upload
	At     time.Time
}

// Order is a run that is to be made.
type Order struct {
	Org                 uuid.UUID
	Workspace, Snapshot string
	Key, Message        string
	Want                Want
	Commit              bool // that it is because of a commit: it goes before what nobody waits for
	MaxChanges          int
	Whole               bool // a check plans everything
}

// CheckResult is what a check has found.
type CheckResult struct {
	Outside []Changed // changed outside
	Planned []Changed // what its plan would change, where it is a whole one
}

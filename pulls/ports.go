package pulls

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/runs"
)

// Repositories are where pull requests are.
type Repositories interface {
	// Forge returns a repository at its forge, and what it wants of pull requests.
	Forge(ctx context.Context, org uuid.UUID, repository string) (forge.Forge, Settings, error)
	// Known returns the fault of a repository that is not there.
	Known(ctx context.Context, org uuid.UUID, repository string) error
}

// Layers are what pull requests change.
type Layers interface {
	// Definitions returns the layers of a repository that a pull request may affect, each with where it is and what
	// triggers it, as one text.
	Definitions(ctx context.Context, of Ref, at forge.PullRequest) (map[string]string, error)
	// Affected returns the layers of a repository that the paths mean something to, at the head; each
	// layer where the paths are not all there are.
	Affected(ctx context.Context, of Ref, at forge.PullRequest, paths []string, all bool) ([]string, error)
	// Base returns the newest known commit of the branch that a pull request is to be merged into; empty where none is.
	Base(ctx context.Context, of Ref, at forge.PullRequest) (string, error)
	// Behind returns how far the head is behind a commit of the base.
	Behind(ctx context.Context, of Ref, at forge.PullRequest, base string) (Lag, error)
	// Changed returns the layers that differ between two commits of the base, each with the first path that does.
	Changed(ctx context.Context, of Ref, at forge.PullRequest, from, base string) (map[string]string, error)
	// Snapshot keeps the files of a layer beside its workspace's, and returns their name: at the head, or merged with a
	// commit of the base where one is given. The same files have the same name.
	Snapshot(ctx context.Context, caller auth.Principal, of Ref, at forge.PullRequest, onto, layer string) (string, error)
	// Drop removes a snapshot that nobody needs. One that is gone is fine.
	Drop(ctx context.Context, org uuid.UUID, layer, snapshot string) error
}

// Lag is how far a head is behind its base.
type Lag struct {
	Commits int               // of the base that it lacks
	Layers  map[string]string // that these change, each with the first path that does
	Apart   string            // the first path in which the two don't merge by themselves, or why; empty where they do
}

// Runs plan and apply.
type Runs interface {
	// Begin makes a run, once for each key, and returns its ID.
	Begin(ctx context.Context, caller auth.Principal, order api.RunOrder, of runs.PullOrder, key string) (string, error)
	// Fact is what a run has come to.
	Fact(ctx context.Context, org uuid.UUID, run string) (RunFact, error)
	// Confirm says yes to the plan of a run, which has this digest.
	Confirm(ctx context.Context, caller auth.Principal, run, digest, reason string) error
	// Drop ends a run that nobody wants any more. One that has ended is fine; one that has begun to be applied goes on,
	// and is the fault RunStatus.
	Drop(ctx context.Context, caller auth.Principal, run, reason string) error
	// Insight is what the plan of a run means; nil where that is not known.
	Insight(ctx context.Context, org uuid.UUID, run string) (*api.Insight, error)
	// Changes is what the plan of a run changes, as those may see it who read notices: sensitive values are masked, and
	// there are none where the organization shows none. It is nil where that is not known.
	Changes(ctx context.Context, org uuid.UUID, run string) (*api.RunChanges, error)
}

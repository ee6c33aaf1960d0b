package policy

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Store keeps bundles. Names are compared by their bytes.
//
// All methods are safe for concurrent use, by several processes too where the database is shared. What
// returned without an error is durable, and every call that begins afterwards sees it. After an error
// nothing was changed; errors about the store itself are faults of the codes StoreUnavailable or
// StoreFull, after the first of which a change may turn out to have happened all the same. Nothing is ever
// seen by, or changed for, another organization than the one that is named.
type Store interface {
	// Update runs decide on the newest version of a bundle, nil where there is none of this name, and on how
	// many bundles the organization has in all, and records what it returns in one transaction with its
	// event: no other Update of the organization comes between. An error of decide is returned as it is.
	// Decide may be called several times; only the last call counts. It has no effects. Update returns the
	// newest version as it is then; the zero Bundle where there is none.
	Update(ctx context.Context, ref Ref, decide Decide) (Bundle, error)

	// List returns the newest versions of the organization's bundles, by workspace and name: of these
	// workspaces, of which the empty one is for the bundles of all; of every workspace where none is named.
	List(ctx context.Context, org uuid.UUID, workspaces ...string) ([]Bundle, error)

	// Versions returns the versions of a bundle that are kept, the newest first, or fault.PolicyNotFound.
	Versions(ctx context.Context, ref Ref) ([]Bundle, error)

	// Files returns a version's files as they were put, or fault.PolicyNotFound.
	Files(ctx context.Context, ref Ref, version int64) ([]byte, error)
}

// Decide looks at the newest version of a bundle, and says what is to change.
type Decide func(newest *Bundle, bundles int) (Change, error)

// Change is what a decision wants recorded. The zero Change changes nothing.
type Change struct {
	// Put makes a version, with the next number. Its Ref and Version are the store's own. Versions that are
	// older than the newest MaxVersions go.
	Put   *Bundle
	Files []byte
	// Remove takes the bundle away, with all its versions.
	Remove bool
	Event  *audit.Event
}

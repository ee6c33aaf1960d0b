package repos

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Store keeps repositories. Names are compared by their bytes.
//
// All methods are safe for concurrent use, by several processes too where the database is shared. What returned
// without an error is durable, and every call that begins afterwards sees it. After an error nothing was changed;
// errors about the store itself are faults of the codes StoreUnavailable or StoreFull, after the first of which a
// change may turn out to have happened all the same. A change whose context has ended before it begins fails. What is
// returned belongs to the caller. Nothing is ever seen by, or changed for, another organization than the one that is
// named.
type Store interface {
	// Update runs decide on a repository, nil where there is none of this name, and records what it returns in one
	// transaction: no other Update of the organization comes between. An error of decide is returned as it is, and
	// nothing is changed. Decide may be called several times; only the last call counts. It has no effects, and calls
	// no store. Update returns the repository as it is then, the zero one where there is none.
	Update(ctx context.Context, org uuid.UUID, name string, decide Decide) (Repository, error)

	// Repository returns one, or fault.RepositoryNotFound.
	Repository(ctx context.Context, org uuid.UUID, name string) (Repository, error)

	// ByID returns one of whatever organization, or fault.RepositoryNotFound. It is for who has found the ID in the
	// address of a webhook.
	ByID(ctx context.Context, id uuid.UUID) (Repository, error)

	// Repositories returns an organization's by name, up to limit of them, from the first one behind after.
	Repositories(ctx context.Context, org uuid.UUID, after string, limit int) ([]Repository, error)

	Schedule
	Deliveries
}

// Decide looks at a repository, and says what is to be.
type Decide func(r *Repository, count int) (Change, error)

// Change is what a decision wants recorded. The zero Change changes nothing.
type Change struct {
	// Put makes the repository, or changes its settings and secrets. Its Org, Name, Revision and Status are the
	// store's own. Its time to be fetched is now.
	Put *Repository
	// Delete takes it away, with what is remembered of its deliveries.
	Delete bool
	// Audit is what the audit log is to have of it; nil for nothing. It is kept in the same transaction until it is
	// delivered.
	Audit *audit.Event
}

// Schedule says which repositories are to be fetched, and who does.
type Schedule interface {
	// Due returns repositories whose time has come and that nobody has claimed: of each organization the one that waits
	// for longest, up to limit of them, those first that wait for longest.
	Due(ctx context.Context, now time.Time, limit int) ([]Repository, error)

	// Extend has a claim that counts still count until a later time.
	Extend(ctx context.Context, org, id uuid.UUID, token string, until time.Time) error

	// Claim takes a repository that is due and unclaimed at now, until the given time; ok is false where it is not, or
	// not any more.
	// One of several who claim it at once gets it. Hints says how many hints it had by then.
	Claim(ctx context.Context, org, id uuid.UUID, token string, now, until time.Time) (hints int64, ok bool, err error)

	// Release ends the claims of all organizations. It is for who knows that no other process has any: what was claimed is
	// due again at once.
	Release(ctx context.Context) error

	// Hint has a repository fetched at a time, unless it is to be earlier already, and counts one hint more. An absent
	// one is fine.
	Hint(ctx context.Context, org, id uuid.UUID, at time.Time) error

	// Finish records how a fetch went, unless one that began later has done so. If it was claimed by the token, the
	// claim ends, and the next time is Next, or Soon if hints came since. A claim that is over by now changes no time.
	Finish(ctx context.Context, f Finished) error
}

// Finished is how a fetch went.
type Finished struct {
	Org, ID    uuid.UUID
	Began      time.Time
	Status     Status
	Token      string // of the claim; empty for a fetch without one
	Hints      int64
	Next, Soon time.Time
}

// Deliveries remembers which deliveries of a repository were dealt with.
type Deliveries interface {
	// BeginDelivery notes that keys of a delivery are being dealt with. It returns DeliveryNew if none of them was
	// noted before, or was by somebody who began before stale and has not finished; else nothing is noted, and it
	// is DeliveryDone if one of them is finished, or DeliveryBegun. It fails with fault.WebhooksFull where the
	// repository has most keys or more.
	BeginDelivery(ctx context.Context, org, id uuid.UUID, keys []string, now, stale time.Time, most int) (Delivery, error)

	// EndDelivery finishes keys, or forgets them if they were not dealt with.
	EndDelivery(ctx context.Context, org, id uuid.UUID, keys []string, done bool) error

	// ForgetDeliveries removes keys that were noted before a time, of all organizations, up to limit.
	ForgetDeliveries(ctx context.Context, before time.Time, limit int) (removed int, err error)
}

// Delivery is what is known of a delivery.
type Delivery int

// What is known of deliveries.
const (
	DeliveryNew   Delivery = iota // the caller deals with it
	DeliveryBegun                 // somebody does at this moment
	DeliveryDone                  // somebody has
)

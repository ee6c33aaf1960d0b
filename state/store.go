package state

import (
	"context"

	"github.com/google/uuid"
)

// Ref addresses one state. Names are unique within an organization only: no operation of
// a Store ever looks at, or changes, a state of another organization than Ref.Org.
type Ref struct {
	Org  uuid.UUID
	Name Name
}

// Head is all that is known of a state short of its bytes. The zero Head is a state that
// was never written or locked.
type Head struct {
	// Version is the newest ever written, also after a deletion.
	Version Version
	// Deleted says that the state was deleted after Version was written.
	Deleted bool
	// Lock is the held lock, nil when nobody holds it.
	Lock *Lock
	// ReleasedID is the ID of the lock that was released last, so that a replayed UNLOCK
	// can be told from a wrong one.
	ReleasedID string
}

// Exists reports whether there is a state to read.
func (h Head) Exists() bool { return h.Version.Number > 0 && !h.Deleted }

// Change is what a decision wants recorded. The zero Change records nothing.
type Change struct {
	// Version makes Update's body the state's newest version. Its Number must be
	// Head.Version.Number + 1.
	Version *Version
	// Delete takes the state away; its versions stay.
	Delete bool
	// Lock makes this the held lock.
	Lock *Lock
	// Release frees the lock and remembers its ID as ReleasedID.
	Release bool
}

// Decide looks at a state's head and says what to change. It must be quick and have no
// effects of its own: a Store may call it more than once for one Update, and only the
// last call counts.
type Decide func(Head) (Change, error)

// Store keeps states. Every engine and every decorator passes storagetest.RunStore.
//
// All methods are safe for concurrent use. Snapshots and heads that were returned never
// change afterwards. Errors about the store itself are faults of code StoreUnavailable,
// StoreFull or StateCorrupt; none of them ever looks like StateNotFound.
type Store interface {
	// Current returns the newest version with its exact bytes, or fault.StateNotFound
	// when the state was never written or is deleted. It sees every Update that returned
	// before it was called.
	Current(ctx context.Context, ref Ref) (Snapshot, error)

	// Head returns the head; for an unknown state the zero Head and no error. It sees
	// every Update that returned before it was called.
	Head(ctx context.Context, ref Ref) (Head, error)

	// Version returns an accepted version, also of a deleted state, or
	// fault.StateNotFound when there is no such version.
	Version(ctx context.Context, ref Ref, number uint64) (Snapshot, error)

	// Update runs decide on the current head and records what it returns, in one
	// transaction: no other Update of the same state comes between. It returns the head
	// after the change only when a crash of the process or the machine can no longer
	// undo it (the memory engine excepted: it survives nothing).
	//
	// When decide returns an error, nothing is recorded and Update returns that error as
	// it is. On any other error the change is either recorded whole or not at all. An
	// ended ctx stops an Update that has not begun; one that has begun is carried out.
	//
	// body is stored only when the change has a Version. The store keeps no reference
	// to it that the caller could disturb: the caller must not change it afterwards.
	Update(ctx context.Context, ref Ref, body []byte, decide Decide) (Head, error)

	// Ready returns nil when a write would be accepted now, else a fault that says why
	// not. It may answer from a probe that is at most a second old.
	Ready(ctx context.Context) error

	// Close waits for updates that have begun and releases everything. Later calls
	// return fault.StoreUnavailable.
	Close() error
}

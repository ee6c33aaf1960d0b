package workspace

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Store keeps workspaces, variables and snapshots. Names are compared by their bytes, and lists
// are in their order.
//
// All methods are safe for concurrent use, by several processes too where the database is
// shared. What returned without an error is durable, and every call that begins afterwards sees
// it. After an error nothing was changed; errors about the store itself are faults of the codes
// StoreUnavailable or StoreFull, after the first of which a change may turn out to have happened
// all the same. A change whose context has ended before it begins fails with the context's error.
// What is returned belongs to the caller, and what is passed in stays the caller's.
// Nothing is ever seen by, or changed for, another organization than the one that is named.
type Store interface {
	// Update runs decide on the workspace and its own variables, sorted by kind and name, and
	// records what it returns in one transaction: no other Update of the organization comes
	// between. The workspace is nil where there is none of this name, and for the
	// organization's own variables, which the empty name stands for. An error of decide is
	// returned as it is, and nothing is changed. Decide may be called several times; only the
	// last call counts. It has no effects, and calls no store.
	//
	// Update returns the workspace as it is then; the zero Workspace when it was deleted, and
	// for the empty name.
	Update(ctx context.Context, ref Ref, decide Decide) (Workspace, error)

	// Workspace returns a workspace, or fault.WorkspaceNotFound.
	Workspace(ctx context.Context, ref Ref) (Workspace, error)

	// Workspaces returns an organization's by name, up to limit of them, from the first one
	// behind after.
	Workspaces(ctx context.Context, org uuid.UUID, after string, limit int) ([]Workspace, error)

	// Count returns how many workspaces an organization has.
	Count(ctx context.Context, org uuid.UUID) (int, error)

	// Variables returns the variables of a workspace, and those of the organization, as they are
	// at one moment, with the workspace's revision then; each sorted by kind and name. The empty
	// name has no own ones, and the organization's revision. Fault: WorkspaceNotFound.
	Variables(ctx context.Context, ref Ref) (Variables, error)

	Contents
	Snapshots

	// Undelivered returns events that were recorded with a change, and not yet forgotten, the
	// oldest first, up to limit; of one organization, or of all for uuid.Nil.
	Undelivered(ctx context.Context, org uuid.UUID, limit int) ([]Undelivered, error)

	// Forget removes an event of Undelivered's. An absent one is fine.
	Forget(ctx context.Context, event Undelivered) error

	// Ready says whether a change would be accepted now.
	Ready(ctx context.Context) error
}

// Decide looks at a workspace and its own variables, and says what is to change.
type Decide func(w *Workspace, own []Variable) (Change, error)

// Change is what a decision wants recorded. The zero Change changes nothing.
type Change struct {
	// Put makes the workspace, or changes its settings. Its Ref, Revision and Newest are the
	// store's own.
	Put *Workspace
	// Delete takes the workspace away, with its variables and its row of snapshots; what they
	// needed goes later. One that is made anew under its name has none of it.
	Delete bool
	// Set and Unset are variables.
	Set   []Variable
	Unset []Key
	// Touched says who changes variables, and when.
	Touched *Touched
	// Event is recorded with the change; nil for none.
	Event *audit.Event
}

// Touched is who changed a workspace, and when.
type Touched struct {
	By Actor
	At time.Time
}

// Variables are those that a run of a workspace gets.
type Variables struct {
	Revision      int64
	Own           []Variable
	Organizations []Variable
}

// Undelivered is an event that is not in the audit log yet, as far as is known.
type Undelivered struct {
	ID    string
	Event audit.Event
}

// Contents keeps the contents of files, sealed, each once in an organization. One that no
// snapshot needs is kept for some hours, and then removed by Sweep.
type Contents interface {
	// PutContent keeps what r has, at most limit bytes, or fails with fault.BodyTooLarge. One
	// that is there already is kept for longer. An error of r is returned as it is.
	PutContent(ctx context.Context, org uuid.UUID, r io.Reader, limit int64) (Digest, int64, error)

	// OpenContent returns a content and its size, or fs.ErrNotExist. Who has read to io.EOF
	// has read all of it, as it was put.
	OpenContent(ctx context.Context, org uuid.UUID, digest Digest) (io.Reader, int64, error)

	// Sizes returns the sizes of those contents that are there, and keeps them for longer.
	Sizes(ctx context.Context, org uuid.UUID, digests []Digest) (map[Digest]int64, error)

	// NoteSent records that a content was sent for a workspace, and Sent returns for which of the contents
	// that was recorded. What was recorded is forgotten no sooner than a content that nothing needs.
	NoteSent(ctx context.Context, ref Ref, digest Digest) error
	Sent(ctx context.Context, ref Ref, digests []Digest) (map[Digest]bool, error)

	// StoredBytes returns how many bytes the organization's contents have.
	StoredBytes(ctx context.Context, org uuid.UUID) (int64, error)

	// Sweep removes what nothing needs any more, of all organizations.
	Sweep(ctx context.Context) error
}

// Snapshots keeps the row of snapshots of each workspace.
type Snapshots interface {
	// AddSnapshot puts a snapshot behind the newest one of a workspace, with the next Number,
	// and returns it. If the newest is this very snapshot, it is returned as it is, and nothing
	// changes, unless it is a draft and this one is not. Parent, unless it is nil, is the Number that the newest must
	// have, 0 for no snapshot, else fault.SnapshotMoved. Faults: WorkspaceNotFound, FilesMissing when the contents of
	// some files are not there; then nothing is kept of it.
	AddSnapshot(ctx context.Context, ref Ref, s Snapshot, about Entry, parent *int64, event *audit.Event) (Entry, error)

	// AddBeside puts a snapshot beside the row: with a negative Number, so that it is neither the newest nor
	// among Entries. If there is one of this very snapshot beside it, that is returned. Faults:
	// WorkspaceNotFound, FilesMissing.
	AddBeside(ctx context.Context, ref Ref, s Snapshot, about Entry, event *audit.Event) (Entry, error)

	// Beside returns the snapshots beside the row, those first that were put there last.
	Beside(ctx context.Context, ref Ref, limit int) ([]Entry, error)

	// Entries returns a workspace's snapshots, the newest first, up to limit of them, from the
	// first one whose Number is below before; 0 is the newest. Fault: WorkspaceNotFound.
	Entries(ctx context.Context, ref Ref, before int64, limit int) ([]Entry, error)

	// Entry returns one of them, the newest if there are several of its ID, or
	// fault.SnapshotNotFound: by its Number if that is not 0, else by its ID. What is beside the row
	// has its Number only.
	Entry(ctx context.Context, ref Ref, number int64, id Digest) (Entry, error)

	// Files returns a snapshot of the organization with its files, or fault.SnapshotNotFound.
	Files(ctx context.Context, org uuid.UUID, id Digest) (Snapshot, error)

	// RemoveEntry removes one that is not the newest. Contents that nothing else needs go
	// later. An absent one is fine.
	RemoveEntry(ctx context.Context, ref Ref, number int64) error
}

package resources

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Index keeps what can be searched. It is derived: each process makes it anew.
//
// All methods are safe for concurrent use, but only one caller at a time may change
// things. Errors are faults of code StoreUnavailable.
type Index interface {
	// Position returns how far the feed of states was followed.
	Position(ctx context.Context) (Position, error)

	// Advance records that everything up to the position is in the index.
	Advance(ctx context.Context, p Position) error

	// Holding returns what the index has of a state; the zero Holding for nothing.
	Holding(ctx context.Context, ref state.Ref) (Holding, error)

	// Holdings lists the states that the index has something of, behind one of them, in an
	// order of its own; the zero Ref begins.
	Holdings(ctx context.Context, after state.Ref, limit int) ([]Held, error)

	// Replace makes the resources all that the index has of a state. It takes them piece
	// by piece and shows them all at once, at its end: until then, and after an error, the
	// old ones are there.
	Replace(ctx context.Context, ref state.Ref, h Holding, all iter.Seq[Resource]) error

	// Remove forgets a state.
	Remove(ctx context.Context, ref state.Ref) error

	// Followed lists the organizations whose uploads the index has, each with the cursor
	// behind the last record that it knows.
	Followed(ctx context.Context) (map[uuid.UUID]string, error)

	// Record puts uploads in the place of those at the same address, and the cursor with
	// them.
	Record(ctx context.Context, org uuid.UUID, all []Resource, cursor string) error

	// Forget removes an organization's uploads, and its cursor with the last of them.
	Forget(ctx context.Context, org uuid.UUID) error

	// Expire removes an organization's uploads with timestamps before a time, at most limit of them, above zero. The
	// cursor stays. When removed is 0, none is left to go.
	Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error)

	// Shred forgets everything of an organization, what nobody was shown yet included, in pieces of
	// at most limit resources, above zero. removed is how many things went; when it is 0 there is
	// nothing any more.
	Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error)

	Finder

	// Damaged reports whether an error said, since the last Reset, that what the index has can't be relied upon.
	Damaged() bool

	// Reset makes the index a new, empty one, whatever it has. Calls that have begun may fail.
	Reset(ctx context.Context) error

	// Close waits for calls that have begun and releases everything.
	Close() error
}

// Finder is the part of an Index that looks things up. It sees all that was changed before
// the call, and nothing of another organization: what a call costs does not depend on what
// others have. Callers of one organization never have all that there is to look things up
// with. An ended ctx ends a call with its error.
type Finder interface {
	// Search returns a page in the order of places: states first, by name, then uploads;
	// within each by address. It looks at a bounded number of resources, so that a page may
	// be short, even empty: next is where to go on, the zero Place when all was looked at. A
	// page ends before a resource whose Bytes would take it past PageBytes, unless that is its
	// first.
	Search(ctx context.Context, org uuid.UUID, scope Scope, q Query) (found []Resource, next Place, err error)

	// Coverage returns a page of resources with the query's status, as Search does.
	Coverage(ctx context.Context, org uuid.UUID, scope Scope, q CoverageQuery) (found []Covered, next Place, err error)

	// Count counts those that pass the query's filters, whatever their status. It looks at all
	// of them, piece by piece, so that what changes meanwhile may be counted or not.
	Count(ctx context.Context, org uuid.UUID, scope Scope, q CoverageQuery) (Counts, error)

	// Claims returns what else claims the objects at these addresses of a state: resources of other states that share an
	// identity, and uploads that are the same object, at most MaxOthers for each address, states first. What the scope has
	// not is as if it weren't there.
	Claims(ctx context.Context, org uuid.UUID, scope Scope, of state.Name, addresses []string) (map[string][]Claim, error)

	// Cursor returns the one behind the last upload of the organization that it knows; empty
	// for none.
	Cursor(ctx context.Context, org uuid.UUID) (string, error)

	// Unread lists states within the scope that could not be read, at most so many, by
	// name.
	Unread(ctx context.Context, org uuid.UUID, scope Scope, limit int) ([]Held, error)
}

// Position is a place in the feed of states.
type Position struct {
	// Sequence is of the last event that was followed, and Event tells it from that of
	// another store.
	Sequence uint64
	Event    string
	// Complete says that everything there was when the index was made is in it.
	Complete bool
}

// Holding is what the index has of a state.
type Holding struct {
	Version uint64 // 0 for nothing
	Digest  state.Digest
	At      time.Time // when the version was written
	// Unread is why nothing of it is in the index, such as fault.StateEncrypted; empty if
	// it is.
	Unread fault.Code
}

// Held is a state that the index has.
type Held struct {
	Ref state.Ref
	Holding
}

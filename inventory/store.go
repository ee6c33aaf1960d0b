package inventory

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"
)

// Store keeps records, append-only, for each organization apart. Every engine and every
// decorator passes inventorytest.RunStore.
//
// All methods are safe for concurrent use. Errors about the store itself are faults of
// code StoreUnavailable, StoreFull or StoreCorrupt, and Overloaded when others of the same
// organization kept a call waiting for too long. An organization whose records can't
// be read or written does not stop the others.
type Store interface {
	// Append records the batch's resources in order, as neighbours. It returns when they
	// are durable; on an error nothing is recorded, except that after StoreUnavailable
	// the outcome may be unknown: the caller may then send the same batch again, and it
	// is recorded once. Batches whose Append returned before another one's was called
	// come before it. A batch without a timestamp gets the one that Stamp returns.
	//
	// An ID that was used for another Digest is fault.IdempotencyMismatch. IDs are
	// remembered for RememberFor. An ended ctx stops an Append that has not begun.
	Append(ctx context.Context, batch Batch) (Receipt, error)

	// AppendAll records batches of one organization in their order, as an Append of each after
	// the other does, but several may share what it costs to make them durable. It returns
	// the receipts of the first batches, as many as were recorded, and if some were not, why
	// the first of those was not. What it records is a beginning of the batches, each of them
	// whole, also after a crash or when ctx ends; after StoreUnavailable more of them may be
	// recorded than there are receipts.
	AppendAll(ctx context.Context, batches []Batch) ([]Receipt, error)

	// Recorded returns what the store remembers of a batch ID of this organization, and
	// false when it remembers nothing: no such batch was recorded, or too long ago. It
	// sees every Append that returned before it was called.
	Recorded(ctx context.Context, org uuid.UUID, id string) (Remembered, bool, error)

	// Records reads the organization's records that pass the query's filters, in the
	// order they were appended or its reverse. It sees every Append that returned before
	// it was called and no half of one; appends that come later may or may not be seen.
	// Memory is bounded, whatever the number of records. An organization without records
	// yields none. After an error the sequence ends. A cursor that this store did not
	// make for this organization is fault.CursorInvalid.
	Records(ctx context.Context, org uuid.UUID, query Query) iter.Seq2[Positioned, error]

	// Summary returns the organization's groups, ordered by provider, category and type.
	// Its cost grows with the number of groups, not of records.
	Summary(ctx context.Context, org uuid.UUID) ([]Group, error)

	// Usage returns about how many bytes the store keeps for an organization: what each batch
	// added when it was recorded, whatever its contents were, as far as it has not expired. It sees every Append that
	// returned before it was called, and its cost doesn't grow with the number of records.
	Usage(ctx context.Context, org uuid.UUID) (int64, error)

	// Shred destroys all that is kept of an organization: its records, what is remembered of its
	// batches, its groups, what is owed and could not be delivered. It is for an organization that
	// nobody is let in for any more. Each call is bounded, and removes at most limit rows of what is
	// not a file or a table of its own, above zero; removed is how many things went. When it is 0, nothing of the
	// organization is left for any method to find, nor in the store's own files. It may be stopped
	// anywhere and called again, also when there is nothing, and changes nothing of any other
	// organization. Appends of the organization meanwhile are recorded before it or not at all, or
	// are there for the next call. Afterwards the organization is as good as a new one.
	Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error)

	// Expire removes the organization's records with timestamps before a time, the oldest first. Each call is
	// bounded: it removes at most limit rows, above zero, of what is not a file, and whole batches where they have
	// no more records than that. removed is how many records went; when it is 0, none is left to go. What a call has
	// removed, Records, Summary and Usage don't have any more. All else stays: batch IDs are remembered, no timestamp
	// is given before the newest that there ever was, and a cursor that was given for a record that is gone goes on
	// with the first that stays, or ends in descending order. It may be stopped anywhere and called again. A reader
	// that it overtakes reads what stays, or fails with StoreUnavailable where records are gone that it was about to
	// read. On an error, what removed counts is gone all the same.
	Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error)

	// Organizations yields every organization that has records, in the order of their IDs.
	Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error]

	// Status returns nil when an Append would be accepted and complete now; a fault of
	// code StoreDegraded when it would be accepted, but a part of the store is behind;
	// else a fault that says why not. It may be at most a second old.
	Status(ctx context.Context) error

	// Close waits for appends that have begun and releases everything.
	Close() error
}

// Positioned is a record with the cursor that continues after it.
type Positioned struct {
	Record
	// Next continues, in a query of the same order, with the record after this one. It is
	// opaque: 1 to 128 URL-safe characters that only the same store reads.
	Next string
	// Later continues, in a query in ascending order, with what was or will be recorded
	// behind this record. It comes with the first record of a query in descending order
	// without After, and with no other.
	Later string
}

// Order is the direction of a query.
type Order bool

// The orders: as appended, or newest first.
const (
	Ascending  Order = false
	Descending Order = true
)

// Query selects records. Zero fields select everything.
type Query struct {
	Provider, Category, ResourceType, ResourceName string
	Since                                          time.Time // inclusive
	Until                                          time.Time // exclusive
	// Attributes are compared with the top-level members of these names: a string by its
	// text, a number, true, false and null by their spelling, anything else by its
	// compact JSON. All must match.
	Attributes map[string]string
	Order      Order
	// After continues behind the record whose Next it was.
	After string
	// Memory, unless it is nil, is told how many bytes the store has in memory for the
	// reader while that looks at a record, the record included: before the reader gets it,
	// and where the store knows before, in front of taking them. Its error ends the
	// sequence, which yields it.
	Memory func(bytes int64) error
}

// Take asks Memory, if there is one.
func (q Query) Take(bytes int64) error {
	if q.Memory == nil {
		return nil
	}
	return q.Memory(bytes)
}

// Matches reports whether a record passes the query's filters; it ignores Order and After.
func (q Query) Matches(r Record) bool {
	return (q.Provider == "" || q.Provider == r.Provider) &&
		(q.Category == "" || q.Category == r.Category) &&
		(q.ResourceType == "" || q.ResourceType == r.ResourceType) &&
		(q.ResourceName == "" || q.ResourceName == r.ResourceName) &&
		(q.Since.IsZero() || !r.Timestamp.Before(q.Since)) &&
		(q.Until.IsZero() || r.Timestamp.Before(q.Until)) &&
		matchAttributes(q.Attributes, r.Attributes)
}

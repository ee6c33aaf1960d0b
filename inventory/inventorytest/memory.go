package inventorytest

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// Store is an inventory.Store that is simple enough to be right by inspection. It
// keeps everything in memory; Open adds a journal. Tests use it where the engine
// doesn't matter, and the suite tests itself with it.
type Store struct {
	mu      sync.RWMutex
	closed  bool
	orgs    map[uuid.UUID]*shelf
	journal *journal // nil without one
}

// shelf is an organization.
type shelf struct {
	records  []inventory.Record
	gone     int // records that came before those, and have expired
	newest   time.Time
	receipts map[string]filed
	used     int64
}

// filed is a batch that was recorded.
type filed struct {
	digest  [32]byte
	receipt inventory.Receipt
}

// New returns an empty store.
func New() *Store { return &Store{orgs: map[uuid.UUID]*shelf{}} }

// Append implements inventory.Store.
func (s *Store) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return inventory.Receipt{}, errInventoryClosed()
	}
	if err := ctx.Err(); err != nil {
		return inventory.Receipt{}, err
	}
	if err := batch.Check(); err != nil {
		return inventory.Receipt{}, err
	}
	org := s.shelf(batch.Org)
	if f, ok := org.receipts[batch.ID]; ok {
		return f.again(batch)
	}
	at, err := org.stamp(batch.At)
	if err != nil {
		return inventory.Receipt{}, err
	}
	if err := batch.MayAdd(org.used, batch.Bytes()); err != nil {
		return inventory.Receipt{}, err
	}
	batch.At = at
	if err := s.journal.write(batch); err != nil {
		return inventory.Receipt{}, fault.Wrap(err, fault.StoreUnavailable, "the journal can't be written")
	}
	return s.file(batch), nil
}

// AppendAll implements inventory.Store.
func (s *Store) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	return inventory.AppendEach(ctx, s, batches)
}

// shelf returns the organization's; it is entered with its first batch.
func (s *Store) shelf(org uuid.UUID) *shelf {
	if found, ok := s.orgs[org]; ok {
		return found
	}
	return &shelf{receipts: map[string]filed{}}
}

// again answers a batch whose ID was used before.
func (f filed) again(batch inventory.Batch) (inventory.Receipt, error) {
	if f.digest != batch.Digest {
		return inventory.Receipt{}, fault.New(fault.IdempotencyMismatch, "the ID %q came with another body before", batch.ID)
	}
	receipt := f.receipt
	receipt.Replayed = true
	return receipt, nil
}

// stamp returns the timestamp of the next batch, which wants to have at.
func (o *shelf) stamp(at time.Time) (time.Time, error) {
	if at.IsZero() {
		return inventory.Stamp(time.Now(), o.newest), nil
	}
	if at.Before(o.newest) {
		return at, fault.New(fault.ParameterInvalid, "%v lies before the newest record's %v", at, o.newest)
	}
	return at.UTC().Truncate(time.Microsecond), nil
}

// file enters a batch that has its timestamp.
func (s *Store) file(batch inventory.Batch) inventory.Receipt {
	org := s.shelf(batch.Org)
	s.orgs[batch.Org] = org
	for _, resource := range batch.Resources {
		resource.Attributes = bytes.Clone(resource.Attributes)
		org.records = append(org.records, inventory.Record{Timestamp: batch.At, Org: batch.Org, Resource: resource})
	}
	org.used += batch.Bytes()
	org.newest = batch.At
	receipt := inventory.Receipt{Request: batch.Request, At: batch.At, Count: len(batch.Resources)}
	org.receipts[batch.ID] = filed{digest: batch.Digest, receipt: receipt}
	return receipt
}

// Status implements inventory.Store.
func (s *Store) Status(ctx context.Context) error {
	_, _, err := s.look(ctx, uuid.Nil)
	return err
}

// Close implements inventory.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.journal.close()
}

// look returns what the organization has by now, and how many records came before. Nobody changes it afterwards.
func (s *Store) look(ctx context.Context, org uuid.UUID) (records []inventory.Record, gone int, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, 0, errInventoryClosed()
	}
	shelf := s.shelf(org)
	return slices.Clip(shelf.records), shelf.gone, ctx.Err()
}

func errInventoryClosed() error { return fault.New(fault.StoreUnavailable, "the store is closed") }

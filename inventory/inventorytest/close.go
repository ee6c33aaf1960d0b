package inventorytest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// checkInventoryClose calls a closed store.
func checkInventoryClose(t *testing.T, open func(t *testing.T) inventory.Store) {
	before := runtime.NumGoroutine()
	store, org := open(t), uuid.New()
	batch := newBatch(org, 3)
	upload(t, store, batch)
	sequence := store.Records(t.Context(), org, inventory.Query{})
	suite.CloseChecked(t, store, before)
	for range 2 {
		wantClosed(t, store, batch)
		for record, err := range sequence {
			suite.Fault(t, fmt.Sprintf("a sequence from before, at %q,", record.ResourceName), err, fault.StoreUnavailable)
		}
	}
}

func wantClosed(t *testing.T, store inventory.Store, batch inventory.Batch) {
	t.Helper()
	for _, batch := range []inventory.Batch{batch, newBatch(batch.Org, 1), newBatch(uuid.New(), 1)} {
		_, err := store.Append(t.Context(), batch)
		suite.Fault(t, "Append", err, fault.StoreUnavailable)
		all, err := read(t.Context(), store, batch.Org, inventory.Query{})
		suite.Fault(t, fmt.Sprintf("Records, which gave %d,", len(all)), err, fault.StoreUnavailable)
		_, err = store.Summary(t.Context(), batch.Org)
		suite.Fault(t, "Summary", err, fault.StoreUnavailable)
	}
	var last error
	for _, err := range store.Organizations(t.Context()) {
		last = err
	}
	suite.Fault(t, "Organizations", last, fault.StoreUnavailable)
	suite.Fault(t, "Status", store.Status(t.Context()), fault.StoreUnavailable)
}

// checkCloseDuringReads closes the store while a reading is under way.
func checkCloseDuringReads(t *testing.T, open func(t *testing.T) inventory.Store) {
	before := runtime.NumGoroutine()
	store, org, done := open(t), uuid.New(), make(chan error, 1)
	for range 10 {
		upload(t, store, newBatch(org, 100))
	}
	count := 0
	var failure error
	for _, err := range store.Records(t.Context(), org, inventory.Query{}) {
		if failure = err; err == nil {
			count++
		}
		if count == 1 && err == nil {
			go func() { done <- store.Close() }()
			runtime.Gosched()
		}
	}
	if err := <-done; err != nil {
		t.Errorf("Close: %v", err)
	}
	if !fault.Is(failure, fault.StoreUnavailable) && (failure != nil || count != 1000) {
		t.Errorf("the reading ended after %d of 1000 records: %v", count, failure)
	}
	if !suite.Soon(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
	}
}

// checkCloseDuringAppends closes the store under load: every Append has an answer.
func checkCloseDuringAppends(t *testing.T, open func(t *testing.T) inventory.Store) {
	before := runtime.NumGoroutine()
	store := open(t)
	appendUntilClosed(t, store, []uuid.UUID{uuid.New(), uuid.New()})
	if !suite.Soon(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
	}
	wantClosed(t, store, newBatch(uuid.New(), 1))
}

// appendUntilClosed closes the store while eight upload, and returns the batches that
// were recorded and those of which nobody knows.
func appendUntilClosed(t *testing.T, store inventory.Store, orgs []uuid.UUID) (recorded, open []inventory.Batch) {
	t.Helper()
	var count atomic.Int64
	half := make(chan struct{})
	acked, unknown := make([][]inventory.Batch, 9), make([][]inventory.Batch, 9)
	suite.Together(t, 9, func(ctx context.Context, worker int) error {
		if worker == 8 {
			<-half
			return store.Close()
		}
		for {
			batch := newBatch(orgs[worker%len(orgs)], 1+worker)
			_, err := store.Append(ctx, batch)
			if fault.Is(err, fault.StoreUnavailable) {
				unknown[worker] = append(unknown[worker], batch)
				return nil
			}
			if err != nil {
				return err
			}
			acked[worker] = append(acked[worker], batch)
			if count.Add(1) == 100 {
				close(half)
			}
		}
	})
	for i := range acked {
		recorded, open = append(recorded, acked[i]...), append(open, unknown[i]...)
	}
	return recorded, open
}

package inventorytest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// checkReplay sends batches again, later, and as part of another request.
func checkReplay(t *testing.T, store inventory.Store) {
	org := uuid.New()
	batches, receipts, all := []inventory.Batch{}, []inventory.Receipt{}, []inventory.Record{}
	for _, n := range []int{1, 100, 3} {
		batch := newBatch(org, n)
		receipt := upload(t, store, batch)
		wantReplay(t, store, batch, receipt)
		batches, receipts, all = append(batches, batch), append(receipts, receipt), append(all, recordsOf(batch, receipt)...)
	}
	for i, batch := range batches {
		batch.Request = "another request"
		wantReplay(t, store, batch, receipts[i])
	}
	wantRecords(t, store, org, all)
	wantSummary(t, store, org)
}

// checkReplayElsewhere uses the ID of one organization in another.
func checkReplayElsewhere(t *testing.T, store inventory.Store) {
	orgs := []uuid.UUID{{1}, {1, 15: 1}, {2}}
	for i, org := range orgs {
		batch := namedBatch(org, "shared-ID", 2+i)
		receipt := upload(t, store, batch)
		wantReplay(t, store, batch, receipt)
		wantRecords(t, store, org, recordsOf(batch, receipt))
	}
	// IDs that differ in case are different IDs.
	for _, id := range []string{"SHARED-ID", "shared-id", "shared-ID-", "-shared-ID"} {
		upload(t, store, namedBatch(orgs[0], id, 1))
	}
}

// checkConcurrentReplays sends the same batch from many sides at once.
func checkConcurrentReplays(t *testing.T, store inventory.Store) {
	org := uuid.New()
	for round := range 8 {
		batch := newBatch(org, 1+round*7)
		var recorded atomic.Int64
		receipts := make([]inventory.Receipt, 8)
		suite.Together(t, len(receipts), func(ctx context.Context, worker int) error {
			receipt, err := store.Append(ctx, batch)
			if err == nil && !receipt.Replayed {
				recorded.Add(1)
			}
			receipt.Replayed = false
			receipts[worker] = receipt
			return err
		})
		if recorded.Load() != 1 {
			t.Errorf("%d of %d equal appends say that they recorded the batch", recorded.Load(), len(receipts))
		}
		for _, receipt := range receipts {
			suite.Equal(t, "Receipt", receipts[0], receipt)
		}
		query := inventory.Query{Attributes: map[string]string{"batch": batch.ID}}
		wantSame(t, recordsOf(batch, receipts[0]), bare(mustRead(t, store, org, query)))
	}
}

// checkMismatch uses an ID again for something else.
func checkMismatch(t *testing.T, store inventory.Store) {
	org := uuid.New()
	first := namedBatch(org, "taken", 2)
	receipt := upload(t, store, first)
	for _, n := range []int{1, 3} {
		_, err := store.Append(t.Context(), namedBatch(org, "taken", n))
		suite.Fault(t, "Append of another batch with the same ID", err, fault.IdempotencyMismatch)
	}
	same := first
	same.Digest[31]++
	_, err := store.Append(t.Context(), same)
	suite.Fault(t, "Append with another digest", err, fault.IdempotencyMismatch)
	wantRecords(t, store, org, recordsOf(first, receipt))
	wantReplay(t, store, first, receipt)
	upload(t, store, namedBatch(uuid.New(), "taken", 3))
}

// checkConcurrentMismatch lets two batches fight for an ID.
func checkConcurrentMismatch(t *testing.T, store inventory.Store) {
	org := uuid.New()
	for round := range 8 {
		id := fmt.Sprint("fight-", round)
		rivals := []inventory.Batch{namedBatch(org, id, 1), namedBatch(org, id, 2)}
		var won [2]atomic.Int64
		suite.Together(t, 8, func(ctx context.Context, worker int) error {
			_, err := store.Append(ctx, rivals[worker%2])
			if err == nil {
				won[worker%2].Add(1)
			} else if !fault.Is(err, fault.IdempotencyMismatch) {
				return err
			}
			return nil
		})
		if a, b := won[0].Load(), won[1].Load(); a+b != 4 || a*b != 0 {
			t.Errorf("of 4 equal appends each, %d and %d succeeded", a, b)
		}
	}
	if _, err := wholeBatches(bare(mustRead(t, store, org, inventory.Query{}))); err != nil {
		t.Error(err)
	}
}

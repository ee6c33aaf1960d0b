package inventorytest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// checkEarlyStop gives up readings at every point, many times.
func checkEarlyStop(t *testing.T, store inventory.Store) {
	org := uuid.New()
	for range 5 {
		upload(t, store, newBatch(org, 100))
	}
	for i := range 60 {
		order := inventory.Order(i%2 == 1)
		if got := page(t, store, org, inventory.Query{Order: order}, 1+i*7); len(got) != 1+i*7 {
			t.Fatalf("%d records, want %d", len(got), 1+i*7)
		}
		for range store.Organizations(t.Context()) {
			break
		}
	}
	upload(t, store, newBatch(org, 1))
	wantSummary(t, store, org)
}

// checkEndedInventoryContext calls with a context that has ended. Nothing is recorded; a
// reading may be served all the same, but it is never a part that looks like the whole.
func checkEndedInventoryContext(t *testing.T, store inventory.Store) {
	org := uuid.New()
	first := newBatch(org, 3)
	want := recordsOf(first, upload(t, store, first))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := newBatch(org, 1)
	if _, err := store.Append(ctx, late); !errors.Is(err, context.Canceled) {
		t.Errorf("Append: error %v, want context.Canceled", err)
	}
	wantRecords(t, store, org, want)

	all, err := read(ctx, store, org, inventory.Query{})
	wantWholeOrEnded(t, "Records", err, same(want, bare(all)))
	groups, err := store.Summary(ctx, org)
	wantWholeOrEnded(t, "Summary", err, sizeIs(1, len(groups)))
	count := 0
	for _, e := range store.Organizations(ctx) {
		if err = e; e == nil {
			count++
		}
	}
	wantWholeOrEnded(t, "Organizations", err, sizeIs(1, count))
	upload(t, store, late)
}

func sizeIs(want, got int) error {
	if want != got {
		return fmt.Errorf("%d, want %d", got, want)
	}
	return nil
}

// wantWholeOrEnded takes a reading's error, and what was wrong with its result.
func wantWholeOrEnded(t *testing.T, what string, err, wrong error) {
	t.Helper()
	if err == nil && wrong != nil {
		t.Errorf("%s of an ended context, without an error: %v", what, wrong)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%s: error %v, want context.Canceled", what, err)
	}
}

// checkEndingAppend ends contexts while Appends run. Whatever an Append answers, it is
// over by then.
func checkEndingAppend(t *testing.T, store inventory.Store) {
	suite.Together(t, 4, func(ctx context.Context, worker int) error {
		org := uuid.New()
		for i := range 25 {
			if err := endDuringAppend(ctx, store, newBatch(org, 1+i)); err != nil {
				return fmt.Errorf("worker %d, append %d: %w", worker, i, err)
			}
		}
		return nil
	})
}

func endDuringAppend(ctx context.Context, store inventory.Store, batch inventory.Batch) error {
	ending, cancel := context.WithCancel(ctx)
	go cancel()
	_, err := store.Append(ending, batch)
	<-ending.Done()
	// StoreUnavailable leaves it open whether the batch was recorded.
	open := fault.Is(err, fault.StoreUnavailable)
	if err != nil && !open && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("error %w, want context.Canceled", err)
	}
	receipt, again := store.Append(ctx, batch)
	if again != nil {
		return fmt.Errorf("the second Append: %w", again)
	}
	if recorded := err == nil; !open && receipt.Replayed != recorded {
		return fmt.Errorf("the first Append said %v, the second found the batch recorded: %v", err, receipt.Replayed)
	}
	all, err := read(ctx, store, batch.Org, inventory.Query{Attributes: map[string]string{"batch": batch.ID}})
	if err != nil {
		return err
	}
	return same(recordsOf(batch, receipt), bare(all))
}

// checkEndingRead ends the context in the middle of a reading: the rest comes, or an
// error.
func checkEndingRead(t *testing.T, store inventory.Store) {
	org := uuid.New()
	for range 10 {
		upload(t, store, newBatch(org, 100))
	}
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		for _, after := range []int{1, 150, 999} {
			ctx, cancel := context.WithCancel(t.Context())
			count := 0
			var failure error
			for _, err := range store.Records(ctx, org, inventory.Query{Order: order}) {
				if failure = err; err == nil {
					count++
				}
				if count == after {
					cancel()
				}
			}
			wantWholeOrEnded(t, "Records", failure, sizeIs(1000, count))
			cancel()
		}
	}
	upload(t, store, newBatch(org, 1))
}

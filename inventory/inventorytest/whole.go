package inventorytest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// checkWholeBatches has many upload a hundred resources at a time while others read.
func checkWholeBatches(t *testing.T, store inventory.Store) {
	const writers, readers, batches = 16, 3, 3
	org, line := uuid.New(), newTimeline()
	var writing atomic.Int64
	writing.Store(writers)
	suite.Together(t, writers+readers, func(ctx context.Context, worker int) error {
		if worker >= writers {
			for writing.Load() > 0 {
				if err := readWhole(ctx, store, org, line, inventory.Order(worker%2 == 0)); err != nil {
					return err
				}
			}
			return nil
		}
		defer writing.Add(-1)
		for range batches {
			batch := newBatch(org, 100)
			line.begin(batch.ID)
			if _, err := store.Append(ctx, batch); err != nil {
				return err
			}
			line.answer(batch.ID)
		}
		return nil
	})
	if err := readWhole(t.Context(), store, org, line, inventory.Ascending); err != nil {
		t.Error(err)
	}
	if got := len(mustRead(t, store, org, inventory.Query{})); got != writers*batches*100 {
		t.Errorf("%d records, want %d", got, writers*batches*100)
	}
	wantSummary(t, store, org)
}

func readWhole(ctx context.Context, store inventory.Store, org uuid.UUID, line *timeline, order inventory.Order) error {
	began := line.clock.Add(1)
	all, err := read(ctx, store, org, inventory.Query{Order: order})
	if err != nil {
		return err
	}
	records := bare(all)
	if order == inventory.Descending {
		slices.Reverse(records)
	}
	ids, err := wholeBatches(records)
	if err != nil {
		return err
	}
	if err := line.check(ids, began); err != nil {
		return err
	}
	return neverBackwards(records)
}

// meanwhile runs n workers beside the test, which ends no sooner than they do. It returns
// a channel that is closed when they are done.
func meanwhile(t *testing.T, n int, work func(worker int) error) <-chan struct{} {
	t.Helper()
	errs, done := make([]error, n), make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = work(i) })
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	t.Cleanup(func() {
		<-done
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
	return done
}

// checkSlowReader appends and reads while other readings are under way and go nowhere.
func checkSlowReader(t *testing.T, store inventory.Store) {
	org := uuid.New()
	upload(t, store, newBatch(org, 100))
	before := bare(mustRead(t, store, org, inventory.Query{}))
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		next, stop := iter.Pull2(store.Records(t.Context(), org, inventory.Query{Order: order}))
		defer stop()
		if _, err, ok := next(); err != nil || !ok {
			t.Fatalf("the first record: %v, %v", err, ok)
		}
		upload(t, store, newBatch(org, 100))
		wantSummary(t, store, org)
		count := 1
		for _, err, ok := next(); ok; _, err, ok = next() {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		if count%100 != 0 || count < len(before) {
			t.Errorf("the slow reader saw %d records", count)
		}
	}
}

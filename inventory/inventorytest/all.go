package inventorytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// manyBatches returns n batches of an organization, a microsecond apart, of 1 to 3 resources;
// every seventh has many.
func manyBatches(org uuid.UUID, n int) []inventory.Batch { return batchesWith(org, n, 60) }

// smallBatches are manyBatches without those of many resources: for checks in which only the
// number of batches counts, which has to be more than an engine takes in one piece.
func smallBatches(org uuid.UUID, n int) []inventory.Batch { return batchesWith(org, n, 4) }

// batchesWith has every seventh batch be of that many resources.
func batchesWith(org uuid.UUID, n, many int) []inventory.Batch {
	all := make([]inventory.Batch, n)
	for i := range all {
		size := 1 + i%3
		if i%7 == 6 {
			size = many
		}
		all[i] = newBatch(org, size)
		all[i].At = time.Date(2024, 5, 6, 7, 8, 9, i*1000, time.UTC)
	}
	return all
}

// wantAll appends the batches at once, wants the first ones to be recorded, as many as that,
// and an error if that is not all of them.
func wantAll(t *testing.T, store inventory.Store, batches []inventory.Batch,
	recorded int) (receipts []inventory.Receipt, err error) {
	t.Helper()
	receipts, err = store.AppendAll(t.Context(), batches)
	if len(receipts) != recorded || (err == nil) != (recorded == len(batches)) {
		t.Fatalf("AppendAll of %d batches: %d receipts, error %v; want %d", len(batches), len(receipts), err, recorded)
	}
	for i, receipt := range receipts {
		want := inventory.Receipt{Request: batches[i].Request, At: receipt.At, Count: len(batches[i].Resources),
			Replayed: receipt.Replayed}
		suite.Equal(t, "Receipt", want, receipt)
		wantStamp(t, receipt.At)
	}
	return receipts, err
}

func recordsOfAll(batches []inventory.Batch, receipts []inventory.Receipt) (all []inventory.Record) {
	for i, receipt := range receipts {
		all = append(all, recordsOf(batches[i], receipt)...)
	}
	return all
}

// checkAppendAll appends more batches at once than any engine takes in one piece.
func checkAppendAll(t *testing.T, store inventory.Store) {
	org, other := uuid.New(), uuid.New()
	wantAll(t, store, nil, 0)
	batches := manyBatches(org, 600)
	receipts, _ := wantAll(t, store, batches, len(batches))
	want := recordsOfAll(batches, receipts)
	for i, receipt := range receipts {
		if !receipt.At.Equal(batches[i].At) || receipt.Replayed {
			t.Fatalf("batch %d: %+v, given was %v", i, receipt, batches[i].At)
		}
	}
	wantRecords(t, store, org, want)
	wantSummary(t, store, org)
	// Some of them again, with new ones between: these take the store's time.
	mixed := []inventory.Batch{batches[3], newBatch(org, 2), batches[599], newBatch(org, 1)}
	again, _ := wantAll(t, store, mixed, len(mixed))
	for i, receipt := range again {
		if receipt.Replayed != (i%2 == 0) {
			t.Errorf("batch %d: %+v", i, receipt)
		}
	}
	want = append(want, recordsOf(mixed[1], again[1])...)
	wantRecords(t, store, org, append(want, recordsOf(mixed[3], again[3])...))
	wantRecords(t, store, other, nil)
}

// checkAppendAllStops has one batch of many refused: those before it are recorded, it and
// those behind it are not, and can be sent once it is mended.
func checkAppendAllStops(t *testing.T, store inventory.Store) {
	for _, bad := range []int{0, 1, 300, 499} {
		for what, spoil := range map[string]func(batches []inventory.Batch){
			"from before the newest": func(b []inventory.Batch) { b[bad].At = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC) },
			"an ID of its own batch": func(b []inventory.Batch) { b[bad].ID = b[max(bad-1, 0)].ID },
		} {
			org := uuid.New()
			upload(t, store, smallBatches(org, 1)[0])
			batches := smallBatches(org, 500)
			good := batches[bad]
			if spoil(batches); bad == 0 && what == "an ID of its own batch" {
				continue
			}
			receipts, err := wantAll(t, store, batches, bad)
			if fault.Is(err, fault.StoreUnavailable) ||
				fault.Is(err, fault.IdempotencyMismatch) != (what == "an ID of its own batch") {
				t.Errorf("%s: %v", what, err)
			}
			if got := bare(mustRead(t, store, org, inventory.Query{})); len(got) != 1+len(recordsOfAll(batches, receipts)) {
				t.Fatalf("%s at %d: %d records are there", what, bad, len(got))
			}
			batches[bad] = good
			receipts, _ = wantAll(t, store, batches, len(batches))
			wantSame(t, recordsOfAll(batches, receipts), bare(mustRead(t, store, org, inventory.Query{}))[1:])
		}
	}
}

// checkAppendAllTogether has several callers append many batches each, and others one by one:
// each caller's batches come in their order.
func checkAppendAllTogether(t *testing.T, store inventory.Store) {
	org := uuid.New()
	suite.Together(t, 6, func(ctx context.Context, worker int) error {
		for range 3 {
			batches := make([]inventory.Batch, 40)
			for i := range batches {
				batches[i] = newBatch(org, 1+i%2)
			}
			if worker%2 == 0 {
				batches = batches[:1]
			}
			receipts, err := store.AppendAll(ctx, batches)
			if err != nil || len(receipts) != len(batches) {
				return errors.Join(errors.New("not all were recorded"), err)
			}
			for i := 1; i < len(receipts); i++ {
				if receipts[i].At.Before(receipts[i-1].At) {
					return errors.New("timestamps go backwards")
				}
			}
		}
		return nil
	})
	records := bare(mustRead(t, store, org, inventory.Query{}))
	if _, err := wholeBatches(records); err != nil {
		t.Error(err)
	}
	if err := neverBackwards(records); err != nil || len(records) != 3*3*60+3*3 {
		t.Errorf("%d records, %v", len(records), err)
	}
	wantSummary(t, store, org)
}

// checkAppendAllEnds ends the context at moments spread over the time that all of them take:
// what is there is a beginning. HOLDFAST_TORTURE=1 tries three times as many moments.
func checkAppendAllEnds(t *testing.T, store inventory.Store) {
	moments := 8
	if killtest.Tortures() {
		moments = 24
	}
	start := time.Now()
	wantAll(t, store, smallBatches(uuid.New(), 400), 400)
	whole := time.Since(start)
	for i := range moments {
		org := uuid.New()
		batches := smallBatches(org, 400)
		ctx, cancel := context.WithTimeout(t.Context(), whole*time.Duration(i)/time.Duration(moments))
		receipts, err := store.AppendAll(ctx, batches)
		cancel()
		if err == nil && len(receipts) != len(batches) {
			t.Fatalf("%d receipts and no error", len(receipts))
		}
		ids, failed := wholeBatches(bare(mustRead(t, store, org, inventory.Query{})))
		if failed != nil || len(ids) < len(receipts) {
			t.Fatalf("%d batches are there, %d receipts; %v", len(ids), len(receipts), failed)
		}
		for j, id := range ids {
			if id != batches[j].ID {
				t.Fatalf("batch %d is missing, and later ones are there", j)
			}
		}
		wantAll(t, store, batches, len(batches))
	}
}

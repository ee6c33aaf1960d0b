package inventorytest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// checkTimestamps follows the store's own clock.
func checkTimestamps(t *testing.T, store inventory.Store) {
	org, begin := uuid.New(), time.Now()
	var want []inventory.Record
	last := time.Time{}
	for i := range 20 {
		batch := newBatch(org, 1+i%3)
		receipt := upload(t, store, batch)
		if !receipt.At.After(last) {
			t.Fatalf("batch %d was recorded at %v, the one before at %v", i, receipt.At, last)
		}
		last = receipt.At
		want = append(want, recordsOf(batch, receipt)...)
	}
	// A store may have a clock of its own, but not one that is wrong by minutes.
	if want[0].Timestamp.Before(begin.Add(-time.Minute)) || last.After(time.Now().Add(time.Minute)) {
		t.Errorf("recorded from %v to %v, appended from %v on", want[0].Timestamp, last, begin)
	}
	wantRecords(t, store, org, want)
}

// checkGivenTimestamps brings timestamps along, as an import does.
func checkGivenTimestamps(t *testing.T, store inventory.Store) {
	org, zone := uuid.New(), time.FixedZone("east", 5*3600+1800)
	first := time.Date(2021, 2, 3, 4, 5, 6, 123456000, time.UTC)
	ahead := time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
	var want []inventory.Record
	var batches []inventory.Batch
	for _, at := range []time.Time{first, first, first.Add(time.Microsecond), first.Add(time.Second).In(zone), ahead} {
		batch := newBatch(org, 2)
		batch.At = at
		want, batches = append(want, recordsOf(batch, upload(t, store, batch))...), append(batches, batch)
	}
	wantRecords(t, store, org, want)
	wantRefusedPast(t, store, org, ahead.Add(-time.Microsecond))
	// Recorded before: no matter that newer records have come since, or what it brings.
	again := batches[0]
	wantReplay(t, store, again, inventory.Receipt{Request: again.Request, At: first, Count: 2})
	again.At = time.Time{}
	wantReplay(t, store, again, inventory.Receipt{Request: again.Request, At: first, Count: 2})

	batch := newBatch(org, 1)
	receipt := upload(t, store, batch)
	if receipt.At.Before(ahead) {
		t.Errorf("recorded at %v, after a record of %v", receipt.At, ahead)
	}
	wantRecords(t, store, org, append(want, recordsOf(batch, receipt)...))
	wantSummary(t, store, org)
}

// wantRefusedPast appends a batch that would come before the newest record.
func wantRefusedPast(t *testing.T, store inventory.Store, org uuid.UUID, at time.Time) {
	t.Helper()
	before := bare(mustRead(t, store, org, inventory.Query{}))
	batch := newBatch(org, 1)
	batch.At = at
	_, err := store.Append(t.Context(), batch)
	// Whoever is told StoreUnavailable sends it again, for ever.
	if err == nil || fault.Is(err, fault.StoreUnavailable) || fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("a batch from before the newest record: error %v", err)
	}
	wantRecords(t, store, org, before)
}

// checkClockAhead goes on behind records of the future, as a clock leaves them that was ahead
// for a while: timestamps neither stand still nor run away, up to the end of time.
func checkClockAhead(t *testing.T, store inventory.Store) {
	end := time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	for _, ahead := range []time.Time{time.Now().Add(1000 * time.Hour).Truncate(time.Microsecond).UTC(),
		end.Add(-2 * time.Microsecond)} {
		org := uuid.New()
		batch := newBatch(org, 1)
		batch.At = ahead
		want := recordsOf(batch, upload(t, store, batch))
		for i := range 4 {
			batch := newBatch(org, 2)
			receipt, next := upload(t, store, batch), ahead.Add(time.Duration(i+1)*time.Microsecond)
			if next.After(end) {
				next = end
			}
			if !receipt.At.Equal(next) {
				t.Errorf("batch %d behind %v was recorded at %v, want %v", i, ahead, receipt.At, next)
			}
			want = append(want, recordsOf(batch, receipt)...)
		}
		wantRecords(t, store, org, want)
		wantSummary(t, store, org)
	}
}

// checkManyTimestamps has many callers append at once.
func checkManyTimestamps(t *testing.T, store inventory.Store) {
	org := uuid.New()
	suite.Together(t, 16, func(ctx context.Context, worker int) error {
		last := time.Time{}
		for i := range 10 {
			receipt, err := store.Append(ctx, newBatch(org, 1+i%2))
			if err != nil {
				return err
			}
			if !receipt.At.After(last) {
				return fmt.Errorf("worker %d: recorded at %v after %v", worker, receipt.At, last)
			}
			last = receipt.At
		}
		return nil
	})
	all := mustRead(t, store, org, inventory.Query{})
	if len(all) != 16*15 {
		t.Errorf("%d records, want %d", len(all), 16*15)
	}
	if err := neverBackwards(bare(all)); err != nil {
		t.Error(err)
	}
}

func neverBackwards(records []inventory.Record) error {
	for i := 1; i < len(records); i++ {
		if records[i].Timestamp.Before(records[i-1].Timestamp) {
			return fmt.Errorf("record %d has the timestamp %v, the one before %v", i, records[i].Timestamp,
				records[i-1].Timestamp)
		}
	}
	return nil
}

package dual

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// series are batches an hour apart, as an import has them.
func series(org uuid.UUID, n int) []inventory.Batch {
	all := make([]inventory.Batch, n)
	for i := range all {
		all[i] = newBatch(org, fmt.Sprint("copy-", i), 1+i%3)
		all[i].At = time.Date(2024, 5, 6, i, 0, 0, 0, time.UTC)
	}
	return all
}

// TestAppendAllWithTrouble appends many batches while a side fails, refuses one of them or
// records without saying so, and again after a crash: both sides have all of them, each once,
// but for what one refuses for good.
func TestAppendAllWithTrouble(t *testing.T) {
	for _, side := range []name{csv, database} {
		for m := works; m < modes; m++ {
			for _, refuses := range []bool{false, true} {
				t.Run(fmt.Sprint(side, " mode ", int(m), " refuses ", refuses), func(t *testing.T) {
					t.Parallel()
					checkSeries(t, side, m, refuses)
				})
			}
		}
	}
}

func checkSeries(t *testing.T, side name, m mode, refuses bool) {
	r := newRig(t, func(o *Options) { o.SideTimeout = 200 * time.Millisecond })
	troubled, org := []*faulty{r.csv, r.mysql}[side], uuid.New()
	batches := series(org, 12)
	troubled.set(m)
	if refuses {
		troubled.refusing(tooLarge("copy-5"))
	}
	receipts, err := r.AppendAll(t.Context(), batches)
	if err != nil || len(receipts) != len(batches) {
		t.Fatalf("AppendAll: %d receipts, %v", len(receipts), err)
	}
	r.crash()
	r.heal()
	again, err := r.AppendAll(t.Context(), batches)
	if err != nil || len(again) != len(batches) {
		t.Fatalf("AppendAll again: %d receipts, %v", len(again), err)
	}
	r.settled()
	var want []string
	for i, batch := range batches {
		want = append(want, linesOf(batch, receipts[i].At)...)
		if !again[i].Replayed || !again[i].At.Equal(receipts[i].At) {
			t.Errorf("batch %d: %+v, then %+v", i, receipts[i], again[i])
		}
	}
	if !refuses {
		r.wantBoth(org, want)
		return
	}
	if got := lines(t, troubled, org); len(got) != len(want)-len(batches[5].Resources) {
		t.Errorf("the side has %v", got)
	}
}

// TestAppendAllStamps gives batches that bring no timestamp the same one on both sides.
func TestAppendAllStamps(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	if _, err := r.AppendAll(t.Context(), []inventory.Batch{newBatch(org, "a", 2), newBatch(org, "b", 1)}); err != nil {
		t.Fatal(err)
	}
	r.settled()
	got := lines(t, r.csv, org)
	if len(got) != 3 {
		t.Errorf("CSV has %v", got)
	}
	r.wantBoth(org, got)
}

// TestAppendAllShares commits the outbox once for all batches of an import, unless something stands in the way.
func TestAppendAllShares(t *testing.T) {
	r := newRig(t, nil)
	batches := series(uuid.New(), shareMost)
	receipts, together, err := r.appendTogether(t.Context(), batches[:100])
	if !together || len(receipts) != 100 || err != nil {
		t.Errorf("%v, %d receipts, %v", together, len(receipts), err)
	}
	if receipts, together, err := r.appendTogether(t.Context(), batches); together || len(receipts) != 0 || err != nil {
		t.Errorf("with some that are there: %v, %d receipts, %v", together, len(receipts), err)
	}
	if receipts, err := r.AppendAll(t.Context(), batches); err != nil || len(receipts) != shareMost ||
		!receipts[99].Replayed || receipts[100].Replayed {
		t.Errorf("%d receipts, %v", len(receipts), err)
	}
	// One that nobody knows has its own answer, behind those that are known.
	batches[7].ID = "unknown"
	receipts, err = r.AppendAll(t.Context(), batches)
	if len(receipts) != 7 || err == nil || fault.Is(err, fault.Busy) || fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("%d receipts, %v", len(receipts), err)
	}
}

// TestOldBatchBesideOneSide refuses a batch that is older than what the sides have, also where one of them lacks the
// newer one and would take it.
func TestOldBatchBesideOneSide(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batches := series(org, 3)
	r.mustAppend(batches[0])
	r.mysql.set(fails)
	r.mustAppend(batches[2])
	_, err := r.Append(t.Context(), batches[1])
	wantCode(t, "Append of an older batch", err, fault.ParameterInvalid)
	if receipt := r.mustAppend(batches[0]); !receipt.Replayed {
		t.Errorf("%+v", receipt)
	}
	r.heal()
	r.wantBoth(org, append(linesOf(batches[0], batches[0].At), linesOf(batches[2], batches[2].At)...))
}

// TestOpenPaysAll has a command find everything in CSV that an import, which was killed, had
// brought so far: it goes on behind that.
func TestOpenPaysAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	org, batches := uuid.New(), series(uuid.Nil, 125)
	r.mustAppend(newBatch(uuid.New(), "before", 1))
	r.csv.set(fails)
	for _, batch := range batches {
		batch.Org = org
		r.mustAppend(batch)
	}
	copied := r.copyOutbox()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.csv.set(works)
	r.options.Dir = copied
	r.Store = open(t, r.options)
	if b := r.Backlog(); b["csv"] != 0 {
		t.Errorf("%d of %d batches are owed when the store is open", b["csv"], len(batches))
	}
}

// TestOldBatchOfOneSide sends a batch again that one side refused for good, while the one that has it is behind.
func TestOldBatchOfOneSide(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batches := series(org, 2)
	r.mysql.refusing(tooLarge(batches[0].ID))
	r.mustAppend(batches[0])
	r.settled()
	r.csv.refusing(func(inventory.Batch) error { return fault.New(fault.StoreFull, "no room") })
	r.mustAppend(batches[1])
	if receipt := r.mustAppend(batches[0]); !receipt.Replayed {
		t.Errorf("%+v", receipt)
	}
	r.csv.refusing(nil)
	r.settled()
}

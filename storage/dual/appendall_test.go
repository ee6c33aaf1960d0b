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
	for _, side := range []name{csv, mysql} {
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
	if letters := r.letters(); len(letters) != 1 || len(lines(t, troubled, org)) != len(want)-len(batches[5].Resources) {
		t.Errorf("dead letters %+v; the side has %v", letters, lines(t, troubled, org))
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

// TestAppendAllShares commits the outbox once for all batches of an import.
func TestAppendAllShares(t *testing.T) {
	r := newRig(t, nil)
	batches := series(uuid.New(), shareMost)
	if _, alone, err := r.appendTogether(t.Context(), batches[:100]); alone != 0 || err != nil {
		t.Errorf("%d alone, %v", alone, err)
	}
	// Those that are there are asked for together, but for the newest, and then the others come.
	receipts, alone, err := r.appendTogether(t.Context(), batches)
	if alone != 0 || err != nil || len(receipts) != 99 || !receipts[98].Replayed {
		t.Errorf("%d alone, %d receipts, %v", alone, len(receipts), err)
	}
	receipts, alone, err = r.appendTogether(t.Context(), batches[99:])
	if alone != 0 || err != nil || len(receipts) != shareMost-99 || !receipts[0].Replayed || receipts[1].Replayed {
		t.Errorf("%d alone, %d receipts, %v", alone, len(receipts), err)
	}
	if again, err := r.AppendAll(t.Context(), batches); err != nil || len(again) != shareMost ||
		!again[shareMost-1].Replayed {
		t.Errorf("%d receipts, %v", len(again), err)
	}
	// One that nobody knows has its own answer, behind those that are known.
	batches[7].ID = "unknown"
	receipts, err = r.AppendAll(t.Context(), batches)
	if len(receipts) != 7 || err == nil || fault.Is(err, fault.Busy) || fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("%d receipts, %v", len(receipts), err)
	}
}

// TestAppendAllBesideLetters shares the commits of an organization that has dead letters, as long
// as all of the batches fit into what may be kept of it.
func TestAppendAllBesideLetters(t *testing.T) {
	t.Parallel()
	for _, fits := range []bool{true, false} {
		r := newRig(t, func(o *Options) {
			if !fits {
				o.MaxBacklogBytes = 8 << 10
			}
		})
		org := uuid.New()
		r.mysql.refusing(tooLarge("large"))
		large := newBatch(org, "large", 1)
		large.At = time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
		r.mustAppend(large)
		r.settled()
		batches := series(org, shareMost)
		receipts, alone, err := r.appendTogether(t.Context(), batches)
		if (alone == 0) != fits || err != nil || fits && len(receipts) != len(batches) {
			t.Errorf("fits %v: %d alone, %d receipts, %v", fits, alone, len(receipts), err)
		}
		if receipts, err := r.AppendAll(t.Context(), batches); err != nil || len(receipts) != len(batches) {
			t.Errorf("fits %v: %d receipts, %v", fits, len(receipts), err)
		}
		r.settled()
	}
}

// TestOpenPaysAll has a command find everything in CSV that an import, which was killed, had
// brought so far: it goes on behind that.
func TestOpenPaysAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	org, batches := uuid.New(), series(uuid.Nil, firstTry+firstTry/4)
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

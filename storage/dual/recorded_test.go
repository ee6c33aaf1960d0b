package dual

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// TestOneSideForgot retries uploads that one side alone remembers: neither side records
// them again.
func TestOneSideForgot(t *testing.T) {
	for _, remembers := range []name{csv, database} {
		r := newRig(t, nil)
		batch := newBatch(uuid.New(), "key-1", 3)
		at := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
		batch.At = at
		sides := map[name]*faulty{csv: r.csv, database: r.mysql}
		if _, err := sides[remembers].Store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		moved := batch // the same records came to the other side without their ID
		moved.ID = "moved"
		if _, err := sides[1-remembers].Store.Append(t.Context(), moved); err != nil {
			t.Fatal(err)
		}

		retry := batch
		retry.At = time.Time{}
		got, err := r.Append(t.Context(), retry)
		want := inventory.Receipt{Request: batch.Request, At: at, Count: 3, Replayed: true}
		if err != nil || got != want {
			t.Errorf("%v remembers: %+v, %v; want %+v", remembers, got, err, want)
		}
		retry.Digest[0]++
		_, err = r.Append(t.Context(), retry)
		wantCode(t, "other contents", err, fault.IdempotencyMismatch)
		r.wantBoth(batch.Org, linesOf(batch, at))
	}
}

// TestRetryWithASideAway goes by the side that can be asked: CSV fails or hangs, and MySQL
// remembers.
func TestRetryWithASideAway(t *testing.T) {
	for _, m := range []mode{fails, hangs} {
		r := newRig(t, func(o *Options) { o.SideTimeout = 50 * time.Millisecond })
		batch := newBatch(uuid.New(), "key-2", 1)
		want := r.mustAppend(batch)
		r.csv.set(m)
		again := r.mustAppend(batch)
		want.Replayed = true
		if again != want {
			t.Errorf("mode %d: %+v; want %+v", m, again, want)
		}
		r.csv.set(works)
		r.wantBoth(batch.Org, linesOf(batch, want.At))
	}
}

// TestRecordedAfterCrash does not deny a batch that CSV has acknowledged while CSV can't be asked and nothing but CSV
// knows.
func TestRecordedAfterCrash(t *testing.T) {
	r := newRig(t, nil)
	batch := newBatch(uuid.New(), "a", 1)
	r.mysql.refusing(func(inventory.Batch) error { return fault.New(fault.StoreFull, "no room") })
	copied := r.copyOnce(r.csv, "after")
	r.mustAppend(batch)
	dir := <-copied
	r.csv.set(fails)
	r.goOn(dir)
	if got, found, err := r.Recorded(t.Context(), batch.Org, batch.ID); !found && err == nil {
		t.Errorf("Recorded: %+v, %v, %v", got, found, err)
	}
	r.mysql.refusing(nil)
	r.heal()
	r.wantBoth(batch.Org, lines(t, r.csv, batch.Org))
}

// TestAfterOneSideForgot records an upload on both sides, the clock having been set back, behind one that the sides
// have at different times.
func TestAfterOneSideForgot(t *testing.T) {
	now := &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	r := newRig(t, func(o *Options) { o.Now = now.Now })
	org := uuid.New()
	batch := newBatch(org, "a", 1)
	batch.At = now.Now().Add(-time.Hour)
	if _, err := r.csv.Store.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	retry := batch
	retry.At = time.Time{}
	if receipt := r.mustAppend(retry); !receipt.Replayed {
		t.Fatalf("%+v", receipt)
	}
	now.advance(-time.Minute)
	r.mustAppend(newBatch(org, "b", 1))
	r.settled()
	r.wantRefused(0, 0)
}

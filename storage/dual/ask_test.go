package dual

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// TestImportBeforeLetter imports batches that are older than a dead letter, and newer than all that
// the side has which refused it: the other side refuses them, so nobody records them, and whoever
// imports is told.
func TestImportBeforeLetter(t *testing.T) {
	for _, name := range []name{csv, mysql} {
		r := newRig(t, nil)
		org, sides := uuid.New(), []*faulty{r.csv, r.mysql}
		batches := series(org, 4)
		r.mustAppend(batches[0])
		sides[name].refusing(tooLarge("large"))
		large := newBatch(org, "large", 1)
		large.At = batches[3].At.Add(time.Hour)
		r.mustAppend(large)
		r.settled()
		want := [2][]string{lines(t, r.csv, org), lines(t, r.mysql, org)}
		for range 2 {
			receipts, err := r.AppendAll(t.Context(), batches)
			if len(receipts) != 1 || err == nil || fault.Is(err, fault.StoreUnavailable) {
				t.Errorf("%s: receipts %+v, %v", name, receipts, err)
			}
			for n, side := range sides {
				if got := lines(t, side, org); len(got) != len(want[n]) {
					t.Errorf("%s: %s has %v", name, []string{"csv", "mysql"}[n], got)
				}
			}
		}
		r.settled()
	}
}

// TestReplayBeforeLetter retries the newest batch of the side that refuses a later one, which the
// other side does not answer for.
func TestReplayBeforeLetter(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batches := series(org, 2)
	first := r.mustAppend(batches[0])
	r.mysql.refusing(tooLarge(batches[1].ID))
	r.mustAppend(batches[1])
	r.settled()
	r.csv.set(fails)
	if again, err := r.Append(t.Context(), batches[0]); err != nil || !again.Replayed || !again.At.Equal(first.At) {
		t.Errorf("%+v, %v", again, err)
	}
	r.csv.set(works)
	r.settled()
}

// TestOldToNeither brings a batch that is older than one which both sides have refused since its
// timestamp was given away: it is recorded as any other, also if one side is away.
func TestOldToNeither(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batches := series(org, 3)
	r.mustAppend(batches[0])
	r.csv.refusing(tooLarge(batches[2].ID))
	r.mysql.set(fails)
	_, err := r.Append(t.Context(), batches[2])
	wantDoubt(t, err)
	r.mysql.refusing(tooLarge(batches[2].ID))
	r.heal()
	r.mysql.onlyAppend(fails)
	if _, err := r.Append(t.Context(), batches[1]); err == nil {
		t.Error("recorded, though it is not known whether MySQL remembers it")
	}
	r.mysql.set(works)
	r.mysql.refusing(func(inventory.Batch) error { return errAway() })
	want := append(linesOf(batches[0], batches[0].At), linesOf(batches[1], batches[1].At)...)
	r.mustAppend(batches[1])
	r.wantBacklog(0, 1)
	r.mysql.refusing(nil)
	r.heal()
	r.wantBoth(org, want)
}

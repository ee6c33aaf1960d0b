package dual

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// forget has a side forget all IDs.
func (f *faulty) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Store = forgetful{f.Store}
}

// retry sends a side's only dead letter again.
func (r *rig) retry(t *testing.T) (replayed bool, err error) {
	t.Helper()
	letters := r.letters()
	if len(letters) != 1 {
		t.Fatalf("dead letters: %+v", letters)
	}
	receipt, err := r.RetryDeadLetter(t.Context(), letters[0].Number)
	return receipt.Replayed, err
}

// TestRetryOfWhatIsThere sends a dead letter again that the side had recorded without saying so,
// before it refused it, and whose ID it has forgotten since.
func TestRetryOfWhatIsThere(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mysql.set(lies)
	batch := newBatch(org, "b", 2)
	want := linesOf(batch, r.mustAppend(batch).At)
	r.mysql.refusing(tooLarge("b"))
	r.settled()
	r.mysql.set(works)
	want = append(want, func() []string {
		after := newBatch(org, "after", 1)
		return linesOf(after, r.mustAppend(after).At)
	}()...)
	r.mysql.refusing(nil)
	r.mysql.forget()
	if replayed, err := r.retry(t); err != nil || !replayed {
		t.Errorf("replayed: %v, %v", replayed, err)
	}
	r.settled()
	r.wantBoth(org, want)
}

// TestRetryInDoubt sends a dead letter again, which the side records without saying so, and once
// more when it has forgotten the ID. The side has it once, also if the first of these was never
// sent, and beside an upload of the same contents.
func TestRetryInDoubt(t *testing.T) {
	for _, m := range []mode{fails, lies} {
		for _, restart := range []bool{false, true} {
			r := newRig(t, nil)
			org := uuid.New()
			r.mysql.refusing(tooLarge("b"))
			r.mustAppend(newBatch(org, "b", 2))
			r.settled()
			alike := newBatch(org, "b", 2)
			alike.ID = "another"
			r.mustAppend(alike)
			r.mysql.refusing(nil)
			r.mysql.onlyAppend(m)
			_, err := r.retry(t)
			wantCode(t, "a retry that is not answered", err, fault.StoreUnavailable)
			if restart {
				r.crash()
			}
			r.mysql.onlyAppend(works)
			r.mysql.forget()
			if replayed, err := r.retry(t); err != nil || replayed != (m == lies) {
				t.Errorf("mode %d: replayed: %v, %v", m, replayed, err)
			}
			if got := lines(t, r.mysql, org); len(got) != 4 || len(lines(t, r.csv, org)) != 4 {
				t.Errorf("mode %d: mysql has %v", m, got)
			}
			r.mustAppend(newBatch(org, "after", 1))
			r.settled()
			if got := lines(t, r.mysql, org); len(got) != 5 {
				t.Errorf("mode %d: mysql has %v", m, got)
			}
		}
	}
}

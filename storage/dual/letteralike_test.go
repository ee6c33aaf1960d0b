package dual

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// lettersAlike makes two dead letters of the same records, by these timestamps if any.
func (r *rig) lettersAlike(org uuid.UUID, at time.Time) []DeadLetter {
	r.t.Helper()
	r.mysql.refusing(tooLarge("a", "b"))
	a, b := newBatch(org, "a", 2), newBatch(org, "b", 2)
	b.Resources = a.Resources
	a.At, b.At = at, at
	r.mustAppend(a)
	r.mustAppend(b)
	r.settled()
	letters := r.letters()
	if len(letters) != 2 {
		r.t.Fatalf("dead letters: %+v", letters)
	}
	return letters
}

// retryAll sends dead letters again, and wants the side to have as many records as the other then.
func (r *rig) retryAll(org uuid.UUID, letters []DeadLetter) {
	r.t.Helper()
	for _, letter := range letters {
		if _, err := r.RetryDeadLetter(r.t.Context(), letter.Number); err != nil {
			r.t.Fatal(err)
		}
	}
	r.settled()
	c, m := lines(r.t, r.csv, org), lines(r.t, r.mysql, org)
	if len(c) != len(m) || len(r.letters()) != 0 {
		r.t.Errorf("csv has %d records, mysql %d, and there are %d dead letters", len(c), len(m), len(r.letters()))
	}
}

// TestRetryOfAlike sends dead letters of the same records again after the side has refused them
// once more: each of them is recorded, in any order.
func TestRetryOfAlike(t *testing.T) {
	for _, backwards := range []bool{false, true} {
		r := newRig(t, nil)
		org := uuid.New()
		letters := r.lettersAlike(org, time.Time{})
		r.mustAppend(newBatch(org, "later", 1))
		for _, letter := range letters {
			_, err := r.RetryDeadLetter(t.Context(), letter.Number)
			wantCode(t, "a retry that is refused", err, fault.BodyTooLarge)
		}
		r.mysql.refusing(nil)
		if backwards {
			letters[0], letters[1] = letters[1], letters[0]
		}
		r.retryAll(org, letters)
	}
}

// TestRetryOfSameTime sends dead letters of the same records and timestamp again: what the side
// records of one is not the other, also if it was there all the time.
func TestRetryOfSameTime(t *testing.T) {
	for _, there := range []string{"", "a", "b"} {
		for _, forgotten := range []bool{false, true} {
			r := newRig(t, nil)
			org := uuid.New()
			letters := r.lettersAlike(org, time.Now().UTC().Truncate(time.Microsecond))
			if there != "" { // the side had recorded it without saying so, before it refused it
				batch, at := newBatch(org, there, 2), letters[0].At
				batch.At, batch.Resources = at, newBatch(org, "a", 2).Resources
				if _, err := r.mysql.Store.Append(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
			}
			if forgotten {
				r.mysql.forget()
			}
			r.mysql.refusing(nil)
			r.retryAll(org, letters)
		}
	}
}

// TestRetryOfAlikeInDoubt sends dead letters of the same records again, none of which is answered
// though the side records one of them: after that each is there once.
func TestRetryOfAlikeInDoubt(t *testing.T) {
	for recorded := range 2 {
		for _, forgotten := range []bool{false, true} {
			r := newRig(t, nil)
			org := uuid.New()
			letters := r.lettersAlike(org, time.Time{})
			r.mustAppend(newBatch(org, "later", 1))
			r.mysql.refusing(nil)
			for i, letter := range letters {
				r.mysql.onlyAppend(fails)
				if i == recorded {
					r.mysql.onlyAppend(lies)
				}
				_, err := r.RetryDeadLetter(t.Context(), letter.Number)
				wantCode(t, "a retry that is not answered", err, fault.StoreUnavailable)
			}
			r.mysql.onlyAppend(works)
			if forgotten {
				r.mysql.forget()
			}
			r.retryAll(org, letters)
		}
	}
}

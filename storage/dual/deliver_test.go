package dual

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// TestAlike counts batches among the records of one timestamp, of which some are like the first
// ones of the batch.
func TestAlike(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, c := range []struct {
		batch, there string // a letter is a record, and a space parts batches
		want         int
	}{
		{"ab", "", 0},
		{"ab", "ab", 1},
		{"ab", "a ab", 1},
		{"ab", "b ab ab", 2},
		{"aab", "a aab", 1},
		{"abac", "ab abac", 1},
		{"abab", "ab abab", 1},
		{"aa", "a aa", 1},
		{"aa", "aa aa", 2},
		{"aba", "aba", 1},
		{"aba", "aba ba", 1},
		{"ab", "a", 0},
		{"abc", "ab bc", 0},
	} {
		r, org := newRig(t, nil), uuid.New()
		for i, records := range strings.Fields(c.there) {
			batch := spelled(org, records)
			batch.ID, batch.At = strings.Repeat("i", i+1), at
			if _, err := r.mysql.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		batch := spelled(org, c.batch)
		batch.At = at
		if n, err := r.alike(t.Context(), r.sides[mysql], batch); n != c.want || err != nil {
			t.Errorf("%q in %q: %d, %v; want %d", c.batch, c.there, n, err, c.want)
		}
	}
}

// spelled is a batch with a record for each letter.
func spelled(org uuid.UUID, letters string) inventory.Batch {
	batch := inventory.Batch{Org: org, Request: "request " + letters}
	for _, letter := range letters {
		batch.Resources = append(batch.Resources, inventory.Resource{
			Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: string(letter), Attributes: []byte(`{}`),
		})
	}
	return batch
}

// TestRetryBehindItsFirstRecord sends a dead letter again in doubt, by the timestamp of a record
// like its first one: it is found there.
func TestRetryBehindItsFirstRecord(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mysql.refusing(tooLarge("b"))
	batch := newBatch(org, "b", 2)
	r.mustAppend(batch)
	r.settled()
	later := newBatch(org, "later", 1)
	later.Resources = batch.Resources[:1]
	r.mustAppend(later)
	r.mysql.refusing(nil)
	r.mysql.onlyAppend(lies)
	if _, err := r.retry(t); err == nil {
		t.Error("a retry that is not answered succeeded")
	}
	r.mysql.onlyAppend(works)
	r.mysql.forget()
	if replayed, err := r.retry(t); err != nil || !replayed {
		t.Errorf("replayed: %v, %v", replayed, err)
	}
	if got := lines(t, r.mysql, org); len(got) != 3 {
		t.Errorf("mysql has %v", got)
	}
}

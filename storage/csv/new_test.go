package csv

import (
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// Scenario: what says that it is new is sent again, against its promise, and others with it.
// Check: it is recorded once, and nobody else suffers for it.
func TestNewBatchAgain(t *testing.T) {
	s, org, other := openDir(t, t.TempDir()), uuid.New(), uuid.New()
	first := newBatch(org, 2)
	first.New = true
	upload(t, s, first)
	if _, err := s.Append(t.Context(), first); err == nil {
		t.Error("a new batch was taken twice")
	}
	beside := newBatch(other, 1)
	beside.New = true
	var sending sync.WaitGroup
	for _, b := range []inventory.Batch{first, beside, first} {
		sending.Go(func() {
			if _, err := s.Append(t.Context(), b); (err == nil) != (b.Org == other) {
				t.Errorf("organization %s: %v", b.Org, err)
			}
		})
	}
	sending.Wait()
	again := first
	again.New = false
	if receipt := upload(t, s, again); !receipt.Replayed || receipt.Count != 2 {
		t.Errorf("sent again without the promise: %+v", receipt)
	}
	last := newBatch(org, 1)
	upload(t, s, last)
	wantBatches(t, s, org, first, last)
	wantBatches(t, s, other, beside)
}

package inventorytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

func usageOf(t *testing.T, store inventory.Store, org uuid.UUID) int64 {
	t.Helper()
	used, err := store.Usage(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func resend(t *testing.T, store inventory.Store, batch inventory.Batch) inventory.Receipt {
	t.Helper()
	receipt, err := store.Append(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func sized(org uuid.UUID, id string, size int) inventory.Batch {
	r := vm("sized", `{"x":"`+strings.Repeat("y", size)+`"}`)
	return batchOf(org, id, r, r)
}

// checkInventoryUsage wants each batch to add about what it has, once, to its organization.
func checkInventoryUsage(t *testing.T, store inventory.Store) {
	org, other := uuid.New(), uuid.New()
	if used := usageOf(t, store, org); used != 0 {
		t.Errorf("an organization without records has %d bytes", used)
	}
	upload(t, store, sized(other, "other", 10))
	before, total := usageOf(t, store, other), int64(0)
	for i, size := range []int{0, 500, 2000, 9000} {
		batch := sized(org, fmt.Sprint("b-", i), size)
		upload(t, store, batch)
		added := usageOf(t, store, org) - total
		if added < int64(2*size) || added > 2*(int64(2*size)+1000) {
			t.Errorf("two records of %d bytes each added %d", size, added)
		}
		total += added
		if receipt := resend(t, store, batch); !receipt.Replayed || usageOf(t, store, org) != total {
			t.Errorf("a replay changed the usage from %d to %d", total, usageOf(t, store, org))
		}
		batch.Digest[0]++
		_, err := store.Append(t.Context(), batch)
		suite.Fault(t, "Append of another digest", err, fault.IdempotencyMismatch)
	}
	if used := usageOf(t, store, org); used != total {
		t.Errorf("refused batches changed the usage from %d to %d", total, used)
	}
	if after := usageOf(t, store, other); after != before {
		t.Errorf("another organization's usage went from %d to %d", before, after)
	}
}

// checkInventoryAllow holds the store to what it tells a batch, and to the answer. A batch
// that is there already is not asked.
func checkInventoryAllow(t *testing.T, store inventory.Store) {
	org, full := uuid.New(), errors.New("no room")
	for i := range 3 {
		batch := sized(org, fmt.Sprint("b-", i), 1000)
		before := usageOf(t, store, org)
		asked := 0
		var told []int64
		batch.Allow = func(used, adds int64) error {
			asked, told = asked+1, []int64{used, adds}
			return full
		}
		if _, err := store.Append(t.Context(), batch); !errors.Is(err, full) || usageOf(t, store, org) != before {
			t.Fatalf("Append without room: %v; the usage went from %d to %d", err, before, usageOf(t, store, org))
		}
		if told[0] != before || told[1] < 2000 {
			t.Errorf("the batch was told %v; Usage was %d", told, before)
		}
		batch.Allow = func(int64, int64) error { return nil }
		upload(t, store, batch)
		asked = 0
		batch.Allow = func(int64, int64) error { asked++; return full }
		if receipt := resend(t, store, batch); !receipt.Replayed || asked != 0 {
			t.Errorf("a replay was asked %d times: %+v", asked, receipt)
		}
	}
}

// checkInventoryFence lets many uploads in at once, with room for some of them.
func checkInventoryFence(t *testing.T, store inventory.Store) {
	const most = 40_000
	org, full := uuid.New(), fault.New(fault.QuotaExceeded, "no room")
	suite.Together(t, 8, func(ctx context.Context, worker int) error {
		for i := range 8 {
			batch := sized(org, fmt.Sprint("b-", worker, "-", i), 1000)
			batch.Allow = func(used, adds int64) error {
				if used+adds > most {
					return full
				}
				return nil
			}
			if _, err := store.Append(ctx, batch); err != nil && !fault.Is(err, fault.QuotaExceeded) {
				return err
			}
		}
		return nil
	})
	if used := usageOf(t, store, org); used > most+most/10 || used < most-5000 {
		t.Errorf("the organization has %d bytes; %d were allowed, and there was room for one more", used, most)
	}
	sizes := slices.Collect(func(yield func(int) bool) {
		for record, err := range store.Records(t.Context(), org, inventory.Query{}) {
			if err != nil || !yield(len(record.Attributes)) {
				return
			}
		}
	})
	if len(sizes)%2 != 0 || len(sizes) == 0 {
		t.Errorf("%d records of whole batches", len(sizes))
	}
}

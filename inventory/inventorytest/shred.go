package inventorytest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// checkInventoryShred destroys one organization of three in the smallest pieces. The others have the
// same uploads, by the same IDs, and are as they were all along.
func checkInventoryShred(t *testing.T, store inventory.Store) {
	orgs := [3]uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	var batches [3][]inventory.Batch
	var want [3][]inventory.Record
	var receipts [3][]inventory.Receipt
	for i, org := range orgs {
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			batch := namedBatch(org, id, 3)
			receipt := upload(t, store, batch)
			batches[i], receipts[i] = append(batches[i], batch), append(receipts[i], receipt)
			want[i] = append(want[i], recordsOf(batch, receipt)...)
		}
	}
	used := [3]int64{usageOf(t, store, orgs[0]), 0, usageOf(t, store, orgs[2])}
	wantOthers := func() {
		t.Helper()
		for _, i := range []int{0, 2} {
			wantRecords(t, store, orgs[i], want[i])
			wantSummary(t, store, orgs[i])
			if now := usageOf(t, store, orgs[i]); now != used[i] {
				t.Errorf("another organization uses %d, used %d", now, used[i])
			}
		}
	}
	gone := orgs[1]
	shred := func() {
		t.Helper()
		for pieces := 0; ; pieces++ {
			removed, err := store.Shred(t.Context(), gone, 2)
			if err != nil || removed < 0 || pieces > 1000 {
				t.Fatalf("Shred removed %d in piece %d, %v", removed, pieces, err)
			}
			if wantOthers(); removed == 0 {
				return
			}
		}
	}
	wantNothing := func() {
		t.Helper()
		wantRecords(t, store, gone, nil)
		if groups, err := store.Summary(t.Context(), gone); len(groups) > 0 || err != nil {
			t.Errorf("Summary: %v, %v", groups, err)
		}
		if now := usageOf(t, store, gone); now != 0 {
			t.Errorf("it uses %d bytes", now)
		}
		for _, batch := range batches[1] {
			wantUnknown(t, store, gone, batch.ID)
		}
		wantOrganizations(t, store, []uuid.UUID{orgs[0], orgs[2]})
	}
	shred()
	wantNothing()
	for _, org := range []uuid.UUID{gone, uuid.New()} {
		if removed, err := store.Shred(t.Context(), org, 2); removed != 0 || err != nil {
			t.Errorf("Shred of nothing: %d, %v", removed, err)
		}
	}
	// It is as good as a new one: its IDs are free.
	again := namedBatch(gone, "a", 2)
	receipt := upload(t, store, again)
	wantRecords(t, store, gone, recordsOf(again, receipt))
	for _, i := range []int{0, 2} {
		wantReplay(t, store, batches[i][0], receipts[i][0])
	}
	shred()
	wantNothing()
}

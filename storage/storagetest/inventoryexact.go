package storagetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
)

// checkInventoryUnknown asks for an organization that never uploaded.
func checkInventoryUnknown(t *testing.T, store inventory.Store) {
	for range 2 {
		org := uuid.New()
		wantRecords(t, store, org, nil)
		if got := mustRead(t, store, org, inventory.Query{Order: inventory.Descending, Provider: "aws"}); len(got) > 0 {
			t.Errorf("an unknown organization has %d records", len(got))
		}
		groups, err := store.Summary(t.Context(), org)
		if err != nil || len(groups) > 0 {
			t.Errorf("summary of an unknown organization: %v, %v", groups, err)
		}
		for org, err := range store.Organizations(t.Context()) {
			t.Errorf("Organizations: %v, %v, and nobody has uploaded", org, err)
		}
	}
}

// checkInventoryExact reads back what was uploaded.
func checkInventoryExact(t *testing.T, store inventory.Store) {
	org := uuid.New()
	var want []inventory.Record
	for _, n := range []int{1, 2, 100, 1} {
		batch := newBatch(org, n)
		want = append(want, recordsOf(batch, upload(t, store, batch))...)
		wantRecords(t, store, org, want)
	}
}

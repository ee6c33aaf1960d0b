package inventorytest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// checkLater reads the newest records first and then, with what came with the first one,
// those that were recorded since: all of them, once, and no older one.
func checkLater(t *testing.T, store inventory.Store) {
	org, descending := uuid.New(), inventory.Query{Order: inventory.Descending}
	if all := mustRead(t, store, org, descending); len(all) > 0 {
		t.Fatalf("%d records of nobody", len(all))
	}
	other := vm("other", "{}")
	other.Provider = "azure"
	for range 3 {
		upload(t, store, newBatch(org, 20))
		upload(t, store, batchOf(org, uuid.NewString(), other))
	}
	for _, query := range []inventory.Query{{}, {Provider: "aws"}, {Provider: "azure"}, {ResourceName: "other"}} {
		query.Order = inventory.Descending
		later := wantLater(t, store, org, query)
		since := inventory.Query{Provider: query.Provider, ResourceName: query.ResourceName, After: later}
		wantSame(t, nil, bare(mustRead(t, store, org, since)))
		batch, another := newBatch(org, 3), batchOf(org, uuid.NewString(), other, other)
		want := append(recordsOf(batch, upload(t, store, batch)), recordsOf(another, upload(t, store, another))...)
		wantSame(t, matching(since, want), bare(mustRead(t, store, org, since)))
		query.After = later
		wantInvalid(t, store, org, query)
	}
}

// wantLater returns the Later of the first record, and holds all others to none.
func wantLater(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query) (later string) {
	t.Helper()
	all := mustRead(t, store, org, query)
	if later = all[0].Later; len(later) < 1 || len(later) > 128 {
		t.Errorf("Later of the first record is %q", later)
	}
	rest := all[1:]
	query.After = all[0].Next
	rest = append(rest, mustRead(t, store, org, query)...)
	query.After, query.Order = "", inventory.Ascending
	for _, record := range append(rest, mustRead(t, store, org, query)...) {
		if record.Later != "" {
			t.Fatalf("Later is %q of a record that is not the first in descending order", record.Later)
		}
	}
	return later
}

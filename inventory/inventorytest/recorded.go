package inventorytest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// checkRecorded asks for batch IDs: what was recorded is remembered with its first receipt
// and its digest, in its own organization only, and asking records nothing.
func checkRecorded(t *testing.T, store inventory.Store) {
	org, other := uuid.New(), uuid.New()
	wantUnknown(t, store, org, "never")
	batch := namedBatch(org, "known", 3)
	receipt := upload(t, store, batch)
	for range 2 {
		got, ok, err := store.Recorded(t.Context(), org, "known")
		want := inventory.Remembered{Receipt: receipt, Digest: batch.Digest}
		want.Receipt.Replayed = true
		if err != nil || !ok || got != want {
			t.Fatalf("Recorded: %+v, %v, %v; want %+v", got, ok, err, want)
		}
	}
	wantUnknown(t, store, org, "Known")
	wantUnknown(t, store, other, "known")
	wantRecords(t, store, org, recordsOf(batch, receipt))
	wantRecords(t, store, other, nil)
}

func wantUnknown(t *testing.T, store inventory.Store, org uuid.UUID, id string) {
	t.Helper()
	if got, ok, err := store.Recorded(t.Context(), org, id); err != nil || ok {
		t.Errorf("Recorded(%q): %+v, %v, %v; want nothing", id, got, ok, err)
	}
}

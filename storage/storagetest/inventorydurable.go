package storagetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
)

// RunInventoryDurable holds an engine to what survives its process. open opens the store
// in a directory, a new one or one that was used before; the suite closes it. The
// engine's TestMain has to call InventoryChildMain.
func RunInventoryDurable(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	t.Run("Reopen", func(t *testing.T) { checkInventoryReopen(t, open) })
}

// InventoryChildMain is the first call of an engine's TestMain. It returns at once,
// unless this process is the child that RunInventoryDurable starts and kills: then it
// uploads to the store until it dies.
func InventoryChildMain(open func(dir string) (inventory.Store, error)) {}

func checkInventoryReopen(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	dir, org := t.TempDir(), uuid.New()
	store := open(t, dir)
	batch := newBatch(org, 3)
	want := recordsOf(batch, upload(t, store, batch))
	for range 2 {
		if err := store.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		store = open(t, dir)
		wantRecords(t, store, org, want)
	}
	if err := store.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

package storagetest_test

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/storagetest"
)

// TestMain serves the crash tests: a process that they start and kill ends in one of the
// two calls.
func TestMain(m *testing.M) {
	storagetest.ChildMain(openBroken)
	storagetest.InventoryChildMain(func(dir string) (inventory.Store, error) {
		store, err := storagetest.OpenInventory(dir)
		return wrapBroken(store), err
	})
	os.Exit(m.Run())
}

package inventorytest_test

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// TestMain serves the crash tests: a process that they start and kill ends in this call.
func TestMain(m *testing.M) {
	inventorytest.ChildMain(func(dir string) (inventory.Store, error) {
		store, err := inventorytest.Open(dir)
		return wrapBroken(store), err
	})
	os.Exit(m.Run())
}

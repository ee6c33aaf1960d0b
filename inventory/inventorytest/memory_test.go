package inventorytest_test

import (
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

func TestInventory(t *testing.T) {
	inventorytest.RunStore(t, func(*testing.T) inventory.Store { return inventorytest.New() })
}

func TestInventoryDurable(t *testing.T) {
	inventorytest.RunDurable(t, openReference)
}

func openReference(t *testing.T, dir string) inventory.Store {
	t.Helper()
	store, err := inventorytest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return wrapBroken(store)
}

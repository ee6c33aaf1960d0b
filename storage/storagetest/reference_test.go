package storagetest_test

import (
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestInventory(t *testing.T) {
	storagetest.RunInventory(t, func(*testing.T) inventory.Store { return storagetest.NewInventory() })
}

func TestInventoryDurable(t *testing.T) {
	storagetest.RunInventoryDurable(t, openReference)
}

func openReference(t *testing.T, dir string) inventory.Store {
	t.Helper()
	store, err := storagetest.OpenInventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	return wrapBroken(store)
}

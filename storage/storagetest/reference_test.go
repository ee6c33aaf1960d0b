package storagetest_test

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestMain(m *testing.M) {
	storagetest.InventoryChildMain(func(dir string) (inventory.Store, error) {
		store, err := storagetest.OpenInventory(dir)
		return wrapBroken(store), err
	})
	os.Exit(m.Run())
}

func TestInventory(t *testing.T) {
	storagetest.RunInventory(t, func(*testing.T) inventory.Store { return storagetest.NewInventory() })
}

func TestInventoryDurable(t *testing.T) {
	storagetest.RunInventoryDurable(t, openJournal)
}

func openJournal(t *testing.T, dir string) inventory.Store {
	t.Helper()
	store, err := storagetest.OpenInventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	return wrapBroken(store)
}

package csv_test

import (
	"context"
	"os"
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/csv"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestMain(m *testing.M) {
	sqlitetest.ChildMain(indexEngine())
	storagetest.InventoryChildMain(func(dir string) (inventory.Store, error) {
		return csv.Open(context.Background(), csv.Options{Dir: dir})
	})
	storagetest.FewChecks()
	os.Exit(m.Run())
}

func open(t *testing.T, dir string) inventory.Store {
	t.Helper()
	store, err := csv.Open(t.Context(), csv.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestInventory(t *testing.T) {
	storagetest.RunInventory(t, func(t *testing.T) inventory.Store { return open(t, t.TempDir()) })
}

func TestInventoryDurable(t *testing.T) {
	storagetest.RunInventoryDurable(t, open)
}

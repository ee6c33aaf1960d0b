package csv_test

import (
	"context"
	"os"
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/storage/csv"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

func TestMain(m *testing.M) {
	sqlitetest.ChildMain(indexEngine())
	inventorytest.ChildMain(func(dir string) (inventory.Store, error) {
		return csv.Open(context.Background(), csv.Options{Dir: dir})
	})
	inventorytest.FewChecks()
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
	inventorytest.RunStore(t, func(t *testing.T) inventory.Store { return open(t, t.TempDir()) })
}

func TestInventoryDurable(t *testing.T) {
	inventorytest.RunDurable(t, open)
}

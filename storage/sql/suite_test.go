package sqluploads

import (
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

func TestInventory(t *testing.T) {
	inventorytest.RunStore(t, func(t *testing.T) inventory.Store { return open(t, optionsFor(mysqltest.New(t))) })
}

func TestInventoryDurable(t *testing.T) {
	inventorytest.RunDurable(t, func(t *testing.T, dir string) inventory.Store {
		store := open(t, optionsFor(mysqltest.Named(t, nameFor(dir))))
		outlive(t, store)
		return store
	})
}

// outlive waits until the transactions of a killed process have ended: its last COMMIT may
// still be on its way through the server, and the suite compares what it reads now with
// what it reads a moment later.
func outlive(t *testing.T, store *Store) {
	t.Helper()
	var organizations int
	err := store.db.QueryRowContext(t.Context(),
		"SELECT COUNT(*) FROM inventory_organizations FOR UPDATE").Scan(&organizations)
	if err != nil {
		t.Fatal(err)
	}
}

// TestInventoryRewritten runs the suite as if the server rewrote JSON, so that the text
// beside it is what counts.
func TestInventoryRewritten(t *testing.T) {
	suite.Deep(t)
	inventorytest.RunStore(t, func(t *testing.T) inventory.Store {
		store := open(t, optionsFor(mysqltest.New(t)))
		rewriting := *store.server.Load()
		rewriting.keepsText = false
		store.server.Store(&rewriting)
		return store
	})
}

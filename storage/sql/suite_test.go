package sqluploads

import (
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

func TestInventory(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		inventorytest.RunStore(t, func(t *testing.T) inventory.Store { return open(t, on.fresh(t).Options) })
	})
}

func TestInventoryDurable(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		t.Setenv(childServer, on.name)
		inventorytest.RunDurable(t, func(t *testing.T, dir string) inventory.Store {
			store := open(t, on.named(t, nameFor(dir)).Options)
			outlive(t, store)
			return store
		})
	})
}

// outlive waits until the transactions of a killed process have ended: its last COMMIT may
// still be on its way through the server, and the suite compares what it reads now with
// what it reads a moment later.
func outlive(t *testing.T, store *Store) {
	t.Helper()
	rows, err := store.db.QueryContext(t.Context(), "SELECT org FROM inventory_organizations FOR UPDATE")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestInventoryRewritten runs the suite as if MySQL's server rewrote JSON, so that the text
// beside it is what counts.
func TestInventoryRewritten(t *testing.T) {
	suite.Deep(t)
	inventorytest.RunStore(t, func(t *testing.T) inventory.Store {
		store := open(t, testServers[0].fresh(t).Options)
		rewriting := *store.server.Load()
		rewriting.keepsText = false
		store.server.Store(&rewriting)
		return store
	})
}

package mysql

import (
	"testing"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestInventory(t *testing.T) {
	storagetest.RunInventory(t, func(t *testing.T) inventory.Store { return open(t, optionsFor(mysqltest.New(t))) })
}

func TestInventoryDurable(t *testing.T) {
	storagetest.RunInventoryDurable(t, func(t *testing.T, dir string) inventory.Store {
		return open(t, optionsFor(mysqltest.Named(t, nameFor(dir))))
	})
}

// TestInventoryRewritten runs the suite as if the server rewrote JSON, so that the text
// beside it is what counts.
func TestInventoryRewritten(t *testing.T) {
	if testing.Short() {
		t.Skip("TestInventory has the same with this server's own way")
	}
	storagetest.RunInventory(t, func(t *testing.T) inventory.Store {
		store := open(t, optionsFor(mysqltest.New(t)))
		rewriting := *store.server.Load()
		rewriting.keepsText = false
		store.server.Store(&rewriting)
		return store
	})
}

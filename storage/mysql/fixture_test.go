package mysql

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func TestInventory(t *testing.T) {
	storagetest.RunInventory(t, func(t *testing.T) inventory.Store { return open(t, optionsFor(mysqltest.New(t))) })
}

// optionsFor returns options for a store in the database.
func optionsFor(d mysqltest.Database) Options {
	return Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: TLSOff, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

// open returns a store that is closed at the end of the test.
func open(t *testing.T, o Options) *Store {
	t.Helper()
	store, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return store
}

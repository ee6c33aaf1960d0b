package sqlite

import (
	"context"
	"os"
	"testing"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestMain(m *testing.M) {
	storagetest.ChildMain(func(dir string) (state.Store, error) {
		return Open(context.Background(), Options{Dir: dir})
	})
	os.Exit(m.Run())
}

func TestStore(t *testing.T) {
	storagetest.RunStore(t, func(t *testing.T) state.Store { return open(t, t.TempDir()) })
}

func TestDurable(t *testing.T) {
	storagetest.RunDurable(t, func(t *testing.T, dir string) state.Store { return open(t, dir) })
}

// open opens a store that the test closes.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package resourceindex

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/resources/resourcestest"
)

func TestMain(m *testing.M) {
	resourcestest.ChildMain(func(dir string) (resources.Index, error) {
		return Open(context.Background(), filepath.Join(dir, "resources.db"), discard())
	})
	os.Exit(m.Run())
}

func TestDurable(t *testing.T) {
	resourcestest.RunDurable(t,
		func(t *testing.T, dir string) resources.Index { return openAt(t, filepath.Join(dir, "resources.db")) })
}

func TestFile(t *testing.T) {
	resourcestest.RunIndex(t, func(t *testing.T) resources.Index {
		return openAt(t,
			filepath.Join(t.TempDir(), "resources.db"))
	})
}

func TestMemory(t *testing.T) {
	resourcestest.RunIndex(t, func(t *testing.T) resources.Index {
		x, err := OpenMemory(t.Context(), discard())
		if err != nil {
			t.Fatal(err)
		}
		return x
	})
}

func openAt(t *testing.T, path string) *Index {
	t.Helper()
	x, err := Open(t.Context(), path, discard())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

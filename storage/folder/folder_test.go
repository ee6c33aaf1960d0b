package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNewParents(t *testing.T) {
	top := t.TempDir()
	want := []string{filepath.Join(top, "a", "b"), filepath.Join(top, "a"), top}
	if got := newParents(filepath.Join(top, "a", "b", "c")); !slices.Equal(got, want) {
		t.Errorf("new entries in %v, want %v", got, want)
	}
	if got := newParents(top); len(got) > 0 {
		t.Errorf("new entries in %v, want none", got)
	}
}

// TestMake wants a new folder to be its owner's, and one that was there left as it was.
func TestMake(t *testing.T) {
	top := t.TempDir()
	there := filepath.Join(top, "there")
	if err := os.Mkdir(there, 0o750); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]os.FileMode{there: 0o750, filepath.Join(top, "a", "b"): 0o700} {
		if err := Make(dir); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %#o, want %#o", dir, got, want)
		}
	}
}

func TestTake(t *testing.T) {
	dir := t.TempDir()
	lock, err := Take(dir, "a.lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(dir, "a.lock"); err == nil ||
		!strings.Contains(err.Error(), "another holdfast process holds a.lock") {
		t.Errorf("taken twice: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(dir, "a.lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

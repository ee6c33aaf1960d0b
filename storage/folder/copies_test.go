package folder

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopies: what a killed process has left is removed, and never what another one uses.
func TestCopies(t *testing.T) {
	parent := t.TempDir()
	left := filepath.Join(parent, ".doctor-123", "copy")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "state.db"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, remove, err := MakeCopy(parent)
	if err != nil {
		t.Fatal(err)
	}
	second, removeSecond, err := MakeCopy(parent)
	if err != nil || second == dir {
		t.Fatalf("two copies at once: %q and %q, %v", dir, second, err)
	}
	if used, err := RemoveCopies(parent); used != 2 || err != nil {
		t.Errorf("%d are used, %v", used, err)
	}
	for path, want := range map[string]bool{left: false, dir: true, second: true} {
		if _, err := os.Stat(path); err == nil != want {
			t.Errorf("%s is there: %v", path, !want)
		}
	}
	for _, end := range []func() error{remove, removeSecond} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(parent); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
	if used, err := RemoveCopies(filepath.Join(parent, "none")); used != 0 || err != nil {
		t.Errorf("%d, %v", used, err)
	}
}

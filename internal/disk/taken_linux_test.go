package disk

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if taken := Taken(info); taken < 100_000 || taken > 1<<20 {
		t.Errorf("it takes %d bytes", taken)
	}
}

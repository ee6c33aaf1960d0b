package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/internal/disk"
)

// TestFree asks a real, small disk, and takes the smaller of two.
func TestFree(t *testing.T) {
	here, dir := t.TempDir(), t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if bytes, err := disk.Free(dir, "", here); err != nil || bytes != 4<<20 {
		t.Errorf("an empty disk of 4 MiB has %d bytes free, %v", bytes, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes, err := disk.Free(here, dir); err != nil || bytes != 3<<20 {
		t.Errorf("with a file of 1 MiB it has %d, %v", bytes, err)
	}
}

func TestFreeOfNothing(t *testing.T) {
	for _, folders := range [][]string{nil, {""}, {filepath.Join(t.TempDir(), "none")}} {
		if bytes, err := disk.Free(folders...); err == nil {
			t.Errorf("%q have %d bytes free", folders, bytes)
		}
	}
}

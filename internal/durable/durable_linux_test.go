package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What the other tests stand in for does reach the system: /proc refuses to be synced.
func TestRealDiskSyncs(t *testing.T) {
	d := realDisk(os.Rename)
	if err := d.syncFolder("/proc"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("to sync a folder of /proc: %v", err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	must(t, err)
	must(t, f.Close())
	if err := d.sync(f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("to sync a closed file: %v", err)
	}
}

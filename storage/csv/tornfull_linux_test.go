package csv

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// smallDisk is a folder on a disk of its own, which has room for so many bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestTornTailOnFullDisk starts while there is no room to keep a torn tail aside: nobody takes the
// tail for a change, nothing is left of the try, and without another start all goes on when there
// is room.
func TestTornTailOnFullDisk(t *testing.T) {
	dir, org := smallDisk(t, "8m"), uuid.New()
	s := openDir(t, dir)
	batch := newBatch(org, 1)
	upload(t, s, batch)
	shut(t, s)
	tail := strings.Repeat("torn", 1<<19)
	write(t, s.path(org), contents(t, s.path(org))+tail)
	filler := filepath.Join(dir, "filler")
	write(t, filler, strings.Repeat("x", 5<<20))
	s = openDir(t, dir)
	for range 2 {
		if err := firstError(t, s, org, inventory.Query{}); !fault.Is(err, fault.StoreFull) {
			t.Errorf("reading: %v", err)
		}
		if _, err := s.Append(t.Context(), newBatch(org, 1)); !fault.Is(err, fault.StoreFull) {
			t.Errorf("an upload: %v", err)
		}
	}
	if got := kept(t, dir, org); len(got) > 0 {
		t.Errorf("%d pieces of the tail are left, of %d bytes", len(got), len(got[0]))
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	wantBatches(t, s, org, batch)
	next := newBatch(org, 1)
	upload(t, s, next)
	wantBatches(t, s, org, batch, next)
	if got := kept(t, dir, org); !slices.Equal(got, []string{tail}) {
		t.Errorf("%d tails were kept", len(got))
	}
	shut(t, s)
	wantBatches(t, openDir(t, dir), org, batch, next)
}

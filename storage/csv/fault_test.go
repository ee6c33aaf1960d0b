package csv

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// TestDiskFaults has each step fail, with and without the way back failing as well. What
// was not acknowledged is not there, readers go on, and the next upload goes through.
func TestDiskFaults(t *testing.T) {
	cases := []struct {
		name string
		set  func(*disk)
		want fault.Code
	}{
		{"open", func(d *disk) { d.open = syscall.EMFILE }, fault.StoreUnavailable},
		{"write", func(d *disk) { d.write = syscall.EIO }, fault.StoreUnavailable},
		{"half a write", func(d *disk) { d.write, d.short = syscall.ENOSPC, 50 }, fault.StoreFull},
		{"quota", func(d *disk) { d.write, d.short = syscall.EDQUOT, 1000 }, fault.StoreFull},
		{"file size", func(d *disk) { d.write = syscall.EFBIG }, fault.StoreFull},
		{"write and sync", func(d *disk) { d.write, d.short, d.sync = syscall.EIO, 99, syscall.EIO }, fault.StoreUnavailable},
		{"write and truncate", func(d *disk) { d.write, d.short, d.truncation = syscall.EIO, 99, syscall.EIO },
			fault.StoreUnavailable},
	}
	for _, c := range cases {
		for _, uploads := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s after %d", c.name, uploads), func(t *testing.T) {
				d := &disk{}
				checkFault(t, d, uploads, func() { c.set(d) }, c.want)
			})
		}
	}
}

func checkFault(t *testing.T, d *disk, uploads int, set func(), want fault.Code) {
	dir, org := t.TempDir(), uuid.New()
	s := openIn(t, Options{Dir: dir, open: d.opener})
	var batches []inventory.Batch
	for range uploads {
		batches = append(batches, newBatch(org, 2))
		upload(t, s, batches[len(batches)-1])
	}
	s.files.forget(org)
	d.set(set)
	failing := newBatch(org, 2)
	for range 3 {
		if _, err := s.Append(t.Context(), failing); !fault.Is(err, want) && d.truncation == nil || err == nil {
			t.Fatalf("error %v, want %s", err, want)
		}
		wantBatches(t, s, org, batches...)
	}
	d.set(func() { d.open, d.write, d.sync, d.truncation = nil, nil, nil, nil })
	if receipt := upload(t, s, failing); receipt.Replayed {
		t.Error("the failed upload was recorded")
	}
	batches = append(batches, failing)
	wantBatches(t, s, org, batches...)
	shut(t, s)
	s = openDir(t, dir)
	wantBatches(t, s, org, batches...)
	if got := kept(t, dir, org); len(got) > 0 {
		t.Errorf("kept aside: %q", got)
	}
}

// TestTailLeftBehind ends the process while the bytes of a failed upload can't be cut off,
// be it the organization's first or not.
func TestTailLeftBehind(t *testing.T) {
	for _, uploads := range []int{0, 1} {
		dir, org, d := t.TempDir(), uuid.New(), &disk{}
		s := openIn(t, Options{Dir: dir, open: d.opener})
		var batches []inventory.Batch
		for range uploads {
			batches = append(batches, newBatch(org, 1))
			upload(t, s, batches[0])
		}
		d.set(func() { d.write, d.short, d.truncation = syscall.EIO, 250, syscall.EIO })
		failed := newBatch(org, 1)
		if _, err := s.Append(t.Context(), failed); err == nil {
			t.Fatal("an upload succeeded on a broken disk")
		}
		shut(t, s)
		s = openDir(t, dir)
		wantBatches(t, s, org, batches...)
		if got := kept(t, dir, org); len(got) != 1 || !strings.Contains(got[0], failed.ID) {
			t.Errorf("kept aside: %q", got)
		}
		if receipt := upload(t, s, failed); receipt.Replayed {
			t.Error("the failed upload was recorded")
		}
		wantBatches(t, s, org, append(batches, failed)...)
	}
}

func (ts *tenants) uses(org uuid.UUID) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.used[org] != nil
}

// TestOtherOrganizationsGoOn has one organization's disk fail for good.
func TestOtherOrganizationsGoOn(t *testing.T) {
	d, bad := &disk{write: syscall.EIO, truncation: syscall.EIO}, uuid.New()
	s := openIn(t, Options{Dir: t.TempDir()})
	s.files.open = func(path string) (appendFile, error) {
		if path == s.path(bad) {
			return d.opener(path)
		}
		return openFile(path)
	}
	for range 3 {
		if _, err := s.Append(t.Context(), newBatch(bad, 1)); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("error %v", err)
		}
		upload(t, s, newBatch(uuid.New(), 1))
		if !s.tenants.uses(bad) {
			t.Error("nobody remembers that the file has a tail of ours")
		}
	}
}

package csv

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// disk opens files that fail when a test says so, and counts what is done to them.
type disk struct {
	mu                            sync.Mutex
	open, write, sync, truncation error
	short                         int // bytes that a failing write writes all the same

	opens, writes, syncs atomic.Int64
}

type diskFile struct {
	appendFile
	disk *disk
}

func (d *disk) opener(path string) (appendFile, error) {
	d.opens.Add(1)
	if err := d.fails(func() error { return d.open }); err != nil {
		return nil, err
	}
	f, err := openFile(path)
	return &diskFile{f, d}, err
}

func (d *disk) fails(which func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return which()
}

func (d *disk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (f *diskFile) WriteAt(p []byte, offset int64) (int, error) {
	f.disk.writes.Add(1)
	if err := f.disk.fails(func() error { return f.disk.write }); err != nil {
		n, _ := f.appendFile.WriteAt(p[:min(f.disk.short, len(p))], offset)
		return n, err
	}
	return f.appendFile.WriteAt(p, offset)
}

func (f *diskFile) Sync() error {
	f.disk.syncs.Add(1)
	if err := f.disk.fails(func() error { return f.disk.sync }); err != nil {
		return err
	}
	return f.appendFile.Sync()
}

func (f *diskFile) Truncate(size int64) error {
	if err := f.disk.fails(func() error { return f.disk.truncation }); err != nil {
		return err
	}
	return f.appendFile.Truncate(size)
}

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
		{"sync", func(d *disk) { d.sync = syscall.EIO }, fault.StoreUnavailable},
		{"full at sync", func(d *disk) { d.sync = syscall.ENOSPC }, fault.StoreFull},
		{"write and truncate", func(d *disk) { d.write, d.short, d.truncation = syscall.EIO, 99, syscall.EIO }, fault.StoreUnavailable},
		{"sync and truncate", func(d *disk) { d.sync, d.truncation = syscall.ENOSPC, syscall.EIO }, fault.StoreFull},
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

// TestTailLeftBehind ends the process while the bytes of a failed upload can't be cut off.
func TestTailLeftBehind(t *testing.T) {
	dir, org, d := t.TempDir(), uuid.New(), &disk{}
	s := openIn(t, Options{Dir: dir, open: d.opener})
	batch := newBatch(org, 1)
	upload(t, s, batch)
	d.set(func() { d.sync, d.truncation = syscall.EIO, syscall.EIO })
	if _, err := s.Append(t.Context(), newBatch(org, 1)); err == nil {
		t.Fatal("an upload succeeded on a broken disk")
	}
	shut(t, s)
	s = openDir(t, dir)
	wantBatches(t, s, org, batch)
	if len(kept(t, dir, org)) != 1 {
		t.Error("the tail was not kept")
	}
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
	}
}

// TestIndexFault has the index refuse an upload whose rows are already in the file.
func TestIndexFault(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batch := newBatch(org, 1)
	upload(t, s, batch)
	before := contents(t, s.path(org))
	db, err := sql.Open("sqlite", filepath.Join(dir, indexName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("CREATE TRIGGER no BEFORE INSERT ON batches BEGIN SELECT raise(ABORT, 'no'); END"); err != nil {
		t.Fatal(err)
	}
	failing := newBatch(org, 1)
	if _, err := s.Append(t.Context(), failing); err == nil {
		t.Error("an upload succeeded without the index")
	}
	wantBatches(t, s, org, batch)
	if contents(t, s.path(org)) != before {
		t.Error("the file has rows of the failed upload")
	}
	if _, err := db.Exec("DROP TRIGGER no"); err != nil {
		t.Fatal(err)
	}
	if receipt := upload(t, s, failing); receipt.Replayed {
		t.Error("the failed upload was recorded")
	}
	wantBatches(t, s, org, batch, failing)
}

// TestUncertainCommit has the index's COMMIT fail in a way that leaves open whether it
// happened: the next use of the organization finds out, and either is right.
func TestUncertainCommit(t *testing.T) {
	for _, happened := range []bool{true, false} {
		for _, restart := range []bool{true, false} {
			t.Run(fmt.Sprintf("happened %v, restart %v", happened, restart), func(t *testing.T) {
				checkUncertain(t, happened, restart)
			})
		}
	}
}

func checkUncertain(t *testing.T, happened, restart bool) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	first, open := newBatch(org, 2), newBatch(org, 3)
	upload(t, s, first)
	leaveOpen(t, s, open, happened)
	if restart {
		shut(t, s)
		s = openDir(t, dir)
	}
	want := []inventory.Batch{first}
	if happened {
		want = append(want, open)
	}
	wantBatches(t, s, org, want...)
	if receipt := upload(t, s, open); receipt.Replayed != happened {
		t.Errorf("%+v", receipt)
	}
	wantBatches(t, s, org, first, open)
	if t := s.tenants.acquire(org); t.dirty() || t.tail != nil {
		panic("the organization is still unsettled")
	}
}

// leaveOpen takes an upload as far as an uncertain commit does.
func leaveOpen(t *testing.T, s *Store, b inventory.Batch, happened bool) {
	t.Helper()
	tn := s.tenants.acquire(b.Org)
	defer s.tenants.release(tn)
	u, err := render(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := tn.ready(); err != nil {
		t.Fatal(err)
	}
	p, err := tn.newPlan([]*pending{u})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.files.take(b.Org, tn.path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := tn.writeFile(f, p)
	if err != nil {
		t.Fatal(err)
	}
	p.change.Head.Seal = now.seal
	if happened {
		if _, err := s.index.Commit(p.change); err != nil {
			t.Fatal(err)
		}
	}
	tn.tail, tn.unsettled = f, p
	tn.look(func(v *view) { v.writing = true })
}

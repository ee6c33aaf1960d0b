package csv

import (
	"sync"
	"sync/atomic"
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

package csv

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// journaled returns how many organizations have something in the journal.
func journaled(t *testing.T, s *Store) int {
	t.Helper()
	all, err := s.index.Journaled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// openQuiet opens a store that flushes only when it is told to.
func openQuiet(t *testing.T, dir string, d *disk) *Store {
	t.Helper()
	return openIn(t, Options{Dir: dir, open: d.opener, flushEvery: time.Hour})
}

// TestFlush: what is acknowledged is in the journal until it is on disk in its file, and
// nothing is left there when the store was closed.
func TestFlush(t *testing.T) {
	dir, d := t.TempDir(), &disk{}
	s := openQuiet(t, dir, d)
	for range 3 {
		upload(t, s, newBatch(uuid.New(), 1))
	}
	if got, syncs := journaled(t, s), d.syncs.Load(); got != 3 || syncs != 0 {
		t.Errorf("%d files in the journal, %d synced", got, syncs)
	}
	if err := s.flusher.flush(); err != nil {
		t.Error(err)
	}
	if got, syncs := journaled(t, s), d.syncs.Load(); got != 0 || syncs != 3 {
		t.Errorf("%d files in the journal, %d synced", got, syncs)
	}
	upload(t, s, newBatch(uuid.New(), 1))
	shut(t, s)
	if got := journaled(t, openQuiet(t, dir, d)); got != 0 || d.syncs.Load() != 4 {
		t.Errorf("closing left %d files in the journal", got)
	}
}

// TestFlushByItself: nobody has to ask for it.
func TestFlushByItself(t *testing.T) {
	s := openIn(t, Options{Dir: t.TempDir(), flushEvery: time.Millisecond})
	upload(t, s, newBatch(uuid.New(), 1))
	for journaled(t, s) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestManyFilesAreFlushedAtOnce: no more files are kept open for it than there may be.
func TestManyFilesAreFlushedAtOnce(t *testing.T) {
	s := openQuiet(t, t.TempDir(), &disk{})
	for range flushFiles {
		upload(t, s, newBatch(uuid.New(), 1))
	}
	for journaled(t, s) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestFlushFaults has the disk refuse a file after what it has was acknowledged: that is
// safe, nothing is added to it, others go on, and all is well when the disk is.
func TestFlushFaults(t *testing.T) {
	for code, errno := range map[fault.Code]error{fault.StoreUnavailable: syscall.EIO, fault.StoreFull: syscall.ENOSPC} {
		t.Run(string(code), func(t *testing.T) { checkFlushFault(t, code, errno) })
	}
}

func checkFlushFault(t *testing.T, code fault.Code, errno error) {
	dir, bad, d := t.TempDir(), uuid.New(), &disk{}
	open := func() *Store {
		s := openIn(t, Options{Dir: dir, flushEvery: time.Hour})
		s.files.open = func(path string) (appendFile, error) {
			if path == s.path(bad) {
				return d.opener(path)
			}
			return openFile(path)
		}
		return s
	}
	s := open()
	first, second, third := newBatch(bad, 2), newBatch(bad, 2), newBatch(bad, 2)
	upload(t, s, first)
	if err := s.flusher.flush(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(s.path(bad))
	if err != nil {
		t.Fatal(err)
	}
	upload(t, s, second)
	d.set(func() { d.sync = errno })
	for range 2 {
		if err := s.flusher.flush(); !fault.Is(err, code) {
			t.Errorf("flush: %v", err)
		}
		if _, err := s.Append(t.Context(), third); !fault.Is(err, code) {
			t.Errorf("an upload to a file that can't be flushed: %v", err)
		}
		upload(t, s, newBatch(uuid.New(), 1))
		wantBatches(t, s, bad, first, second)
	}
	whole := contents(t, s.path(bad))
	if err := s.Close(); !fault.Is(err, code) {
		t.Errorf("Close says nothing of what is left in the journal: %v", err)
	}
	if err := os.Truncate(s.path(bad), before.Size()); err != nil { // as a crash does
		t.Fatal(err)
	}
	s = open() // the disk's errors are met by the flusher only
	wantBatches(t, s, bad, first, second)
	if got := contents(t, s.path(bad)); got != whole {
		t.Errorf("the file has %d bytes, want %d", len(got), len(whole))
	}
	d.set(func() { d.sync = nil })
	if receipt := upload(t, s, third); receipt.Replayed {
		t.Error("the upload that was refused is recorded")
	}
	wantBatches(t, s, bad, first, second, third)
}

// TestFlushWritesAgain: what the system could not write is lost to it, however well a later
// sync goes.
func TestFlushWritesAgain(t *testing.T) {
	dir, org, d := t.TempDir(), uuid.New(), &disk{}
	s := openQuiet(t, dir, d)
	upload(t, s, newBatch(org, 2))
	whole := contents(t, s.path(org))
	d.set(func() { d.sync = syscall.EIO })
	_ = s.flusher.flush()
	if err := os.WriteFile(s.path(org), make([]byte, len(whole)), 0o600); err != nil {
		t.Fatal(err)
	}
	d.set(func() { d.sync = nil })
	if err := s.flusher.flush(); err != nil {
		t.Error(err)
	}
	if got := contents(t, s.path(org)); got != whole || journaled(t, s) != 0 {
		t.Errorf("%d files in the journal, and the file has\n%q", journaled(t, s), got)
	}
}

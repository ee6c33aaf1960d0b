package csv

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// TestEditWhileTheCopyIsSynced: what somebody writes to the file after it was read does not go with it.
func TestEditWhileTheCopyIsSynced(t *testing.T) {
	org, syncs := uuid.New(), 0
	var s *Store
	edited := ""
	s = openIn(t, Options{Dir: t.TempDir(), flushEvery: time.Hour, open: func(path string) (appendFile, error) {
		f, err := openFile(path)
		if err == nil && strings.HasSuffix(path, keptMark) {
			f = stepFile{f, func(step string) {
				if step != "synced" {
					return
				}
				if syncs++; syncs == 2 {
					edited = contents(t, s.path(org)) + "a line by hand\r\n"
					write(t, s.path(org), edited)
				}
			}}
		}
		return f, err
	}})
	daily(t, s, org, 0, 6)
	removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 2), 1)
	if removed != 0 || err == nil || syncs != 2 {
		t.Errorf("Expire: %d, %v, %d syncs", removed, err, syncs)
	}
	if contents(t, s.path(org)) != edited || exists(s.path(org)+keptMark) {
		t.Error("the edited file was replaced, or a copy is left")
	}
}

// TestFolderIsNotSynced: a crash may take the copy's name until the folder is on disk, so the index does not go by it
// before.
func TestFolderIsNotSynced(t *testing.T) {
	s, org := openIn(t, Options{Dir: t.TempDir(), flushEvery: time.Hour}), uuid.New()
	batches := daily(t, s, org, 0, 5)
	if err := s.flusher.flush(); err != nil {
		t.Fatal(err)
	}
	dir := s.dir
	s.dir = filepath.Join(dir, "away")
	removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 2), 1)
	if removed != 0 || !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("Expire: %d, %v", removed, err)
	}
	s.dir = dir
	wantWhole(t, s, org, batches...)
	expire(t, s, org, 2, 6)
	wantWhole(t, s, org, batches[2:]...)
}

// TestRenameIsNotSynced: a crash may undo the rename until the folder is on disk, so nothing is appended to the new
// file before: of the two names, the next start could take the wrong one for what the index goes by.
func TestRenameIsNotSynced(t *testing.T) {
	org := uuid.New()
	var s *Store
	var dir string
	renames := 0
	s = openIn(t, Options{Dir: t.TempDir(), flushEvery: time.Hour, rename: func(from, to string) error {
		if renames++; renames == 1 {
			s.dir = filepath.Join(dir, "away")
		}
		return os.Rename(from, to)
	}})
	dir = s.dir
	path := s.path(org)
	batches := daily(t, s, org, 0, 5)
	removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 2), 1)
	if removed != 6 || !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("Expire: %d, %v", removed, err)
	}
	for range 2 {
		if _, err := s.Append(t.Context(), newBatch(org, 1)); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("Append: %v", err)
		}
		if err := firstError(t, s, org, inventory.Query{}); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("Records: %v", err)
		}
	}
	if !exists(path + keptMark) {
		t.Error("the copy is in place")
	}
	left := sqlitetest.CopyAsCrash(t, dir)
	removeIndex(t, left)
	wantWhole(t, openDir(t, left), org, batches[2:]...)
	s.dir = dir
	wantWhole(t, s, org, append(batches[2:], daily(t, s, org, 5, 1)...)...)
	if exists(path + keptMark) {
		t.Error("a copy is left")
	}
}

// TestCopyCanNotBePlacedAtTheStart: of a file whose copy waits for its place, nothing is taken for a crash's tail.
func TestCopyCanNotBePlacedAtTheStart(t *testing.T) {
	for _, gone := range []int{2, 5} {
		dir, org, fails := t.TempDir(), uuid.New(), true
		rename := func(from, to string) error {
			if fails {
				return syscall.EIO
			}
			return os.Rename(from, to)
		}
		s := openIn(t, Options{Dir: dir, rename: rename})
		batches := daily(t, s, org, 0, 5)
		if removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, gone), 1); removed != 3*gone || err == nil {
			t.Errorf("Expire: %d, %v", removed, err)
		}
		before := contents(t, s.path(org))
		shut(t, s)
		s = openIn(t, Options{Dir: dir, rename: rename})
		if contents(t, s.path(org)) != before || len(kept(t, dir, org)) > 0 {
			t.Errorf("%d of 5 days: the file was cut back", gone)
		}
		fails = false
		wantWhole(t, s, org, batches[gone:]...)
	}
}

package csv

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// removeIndex removes the index as `rm uploads.db*` does.
func removeIndex(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, indexName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// wantGone holds a store whose index is gone to refusing uploads, and to saying so.
func wantGone(t *testing.T, s *Store, b inventory.Batch) {
	t.Helper()
	_, err := s.Append(t.Context(), b)
	for what, err := range map[string]error{"Append": err, "Status": s.Status(t.Context())} {
		if !fault.Is(err, fault.StoreUnavailable) ||
			!strings.Contains(fault.From(err).Message, "uploads.db was removed or replaced") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestIndexRemoved removes the index under a running store: nothing is acknowledged that
// would be lost, and after a restart all is there that was, once, IDs included.
func TestIndexRemoved(t *testing.T) {
	for name, remove := range map[string]func(*testing.T, string){
		"all of it": removeIndex,
		"without its WAL": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, indexName)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { checkIndexRemoved(t, remove) })
	}
}

func checkIndexRemoved(t *testing.T, remove func(*testing.T, string)) {
	dir, org := t.TempDir(), uuid.New()
	s, err := Open(t.Context(), Options{Dir: dir, flushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	first, second := newBatch(org, 2), newBatch(org, 1)
	receipt := upload(t, s, first)
	whole := contents(t, s.path(org))
	remove(t, dir)
	wantGone(t, s, second)
	if _, err := s.Append(t.Context(), newBatch(uuid.New(), 1)); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("a new organization's upload: %v", err)
	}
	wantBatches(t, s, org, first) // reads go on
	if err := s.Close(); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("Close says nothing of it: %v", err)
	}
	if got := contents(t, s.path(org)); got != whole {
		t.Errorf("the file has %q, want %q", got, whole)
	}
	s = openDir(t, dir)
	receipt.Replayed = true
	if again := upload(t, s, first); again != receipt {
		t.Errorf("the retry after a restart: %+v, want %+v", again, receipt)
	}
	if again := upload(t, s, second); again.Replayed {
		t.Error("the upload that was refused is recorded")
	}
	wantBatches(t, s, org, first, second)
	if left, err := filepath.Glob(filepath.Join(dir, indexName+".saved*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestIndexRemovedBeforeCrash: nobody has to write for the removal to be noticed, and what
// was saved then survives a crash of the machine, which takes what the files have.
func TestIndexRemovedBeforeCrash(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s, err := Open(t.Context(), Options{Dir: dir, flushEvery: time.Millisecond, open: (&disk{sync: fs.ErrInvalid}).opener})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	first := newBatch(org, 2)
	receipt := upload(t, s, first)
	removeIndex(t, dir)
	saved := filepath.Join(dir, indexName+".saved")
	for !exists(saved) {
		time.Sleep(time.Millisecond)
	}
	wantMode(t, saved, 0o600)
	left := t.TempDir()
	write(t, filepath.Join(left, indexName+".saved"), contents(t, saved))
	write(t, filepath.Join(left, indexName+"-wal"), "of the one that was removed")
	s = openDir(t, left)
	wantBatches(t, s, org, first)
	receipt.Replayed = true
	if again := upload(t, s, first); again != receipt {
		t.Errorf("the retry after a crash: %+v, want %+v", again, receipt)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestIndexMovedAndBack goes on when the index is back, and keeps no copy that a later
// start could take for it.
func TestIndexMovedAndBack(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openIn(t, Options{Dir: dir, flushEvery: time.Hour})
	first, second := newBatch(org, 2), newBatch(org, 1)
	upload(t, s, first)
	path := filepath.Join(dir, indexName)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	wantGone(t, s, second)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	upload(t, s, second)
	wantBatches(t, s, org, first, second)
	if exists(path + ".saved") {
		t.Error("a copy that is out of date is left")
	}
}

// TestSavedIndexIsOutOfDate: a copy beside an index is never used.
func TestSavedIndexIsOutOfDate(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	saved := filepath.Join(dir, indexName+".saved")
	s := openDir(t, dir)
	first := newBatch(org, 1)
	upload(t, s, first)
	shut(t, s)
	write(t, saved, "not even a database")
	s = openDir(t, dir)
	wantBatches(t, s, org, first)
	shut(t, s)
	removeIndex(t, dir)
	if exists(saved) {
		t.Error("the copy is still there to be used")
	}
}

// TestIndexReplaced puts another one in its place: it is not written to, and not what is
// read.
func TestIndexReplaced(t *testing.T) {
	dir, other, org := t.TempDir(), t.TempDir(), uuid.New()
	s, err := Open(t.Context(), Options{Dir: dir, flushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	first := newBatch(org, 2)
	upload(t, s, first)
	shut(t, openDir(t, other))
	path := filepath.Join(dir, indexName)
	if err := os.Rename(filepath.Join(other, indexName), path); err != nil {
		t.Fatal(err)
	}
	before := contents(t, path)
	wantGone(t, s, newBatch(org, 1))
	wantBatches(t, s, org, first)
	if err := s.Close(); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("Close says nothing of it: %v", err)
	}
	if contents(t, path) != before {
		t.Error("the other index was written to")
	}
}

// TestOneProcessWithoutLockFile removes the lock file, and the index under a second one:
// the folder stays one process's all the same.
func TestOneProcessWithoutLockFile(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	org := uuid.New()
	first := newBatch(org, 1)
	upload(t, s, first)
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "uploads.db is in use: another process holds it") {
		t.Errorf("opened twice: %v", err)
	}
	second := newBatch(org, 1)
	upload(t, s, second)
	wantBatches(t, s, org, first, second)
}

package csv

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// journalStays keeps everybody from emptying the journal, until the returned function is
// called.
func journalStays(t *testing.T, dir string) (mend func()) {
	t.Helper()
	change := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, indexName)+"?_pragma=busy_timeout(5000)")
		if err == nil {
			_, err = db.Exec(statement)
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	change("CREATE TRIGGER stays BEFORE DELETE ON journal BEGIN SELECT RAISE(FAIL, 'it stays'); END")
	return func() { change("DROP TRIGGER stays") }
}

// TestJournalIsEmptiedLater has the files on disk, and the index refuse to note that: it is
// noted as soon as it can be, also of an organization that uploads nothing more.
func TestJournalIsEmptiedLater(t *testing.T) {
	dir, quiet, busy, d := t.TempDir(), uuid.New(), uuid.New(), &disk{}
	s := openQuiet(t, dir, d)
	first, second, third := newBatch(quiet, 2), newBatch(busy, 1), newBatch(busy, 2)
	upload(t, s, first)
	upload(t, s, second)
	mend := journalStays(t, dir)
	for range 2 {
		if err := s.flusher.flush(); err == nil {
			t.Error("nobody learns that the journal is not empty")
		}
	}
	if syncs := d.syncs.Load(); syncs != 2 {
		t.Errorf("%d syncs for two files", syncs)
	}
	upload(t, s, third) // it is no reason to refuse one
	mend()
	if err := s.flusher.flush(); err != nil {
		t.Error(err)
	}
	if n := journaled(t, s); n != 0 || d.syncs.Load() != 3 {
		t.Errorf("%d files in the journal, %d syncs", n, d.syncs.Load())
	}
	wantBatches(t, s, quiet, first)
	wantBatches(t, s, busy, second, third)
}

// TestJournalIsNotEmptiedAtStop stops a store whose journal can't be emptied: Close says so,
// and the next start neither loses nor doubles what is in it.
func TestJournalIsNotEmptiedAtStop(t *testing.T) {
	dir := t.TempDir()
	batches := map[uuid.UUID]inventory.Batch{uuid.New(): {}, uuid.New(): {}}
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	mend := journalStays(t, dir)
	for org := range batches {
		batches[org] = newBatch(org, 2)
		upload(t, s, batches[org])
	}
	if err := s.Close(); err == nil {
		t.Error("Close does not say that the journal is not empty")
	}
	d := &disk{}
	s = openQuiet(t, dir, d)
	if n := journaled(t, s); n != len(batches) {
		t.Errorf("%d files in the journal", n)
	}
	mend()
	if err := s.flusher.flush(); err != nil {
		t.Error(err)
	}
	if n := journaled(t, s); n != 0 {
		t.Errorf("%d files stay in the journal, without a further restart", n)
	}
	for org, b := range batches {
		wantBatches(t, s, org, b)
		if again := upload(t, s, b); !again.Replayed {
			t.Errorf("the retry is recorded again: %+v", again)
		}
	}
}

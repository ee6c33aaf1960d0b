package dual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// TestOutboxIsHeldWithoutLockFile removes the lock file of an outbox that is open.
func TestOutboxIsHeldWithoutLockFile(t *testing.T) {
	r := newRig(t, nil)
	r.mustAppend(newBatch(uuid.New(), "a", 1))
	if err := os.Remove(filepath.Join(r.dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), r.options); err == nil ||
		!strings.Contains(err.Error(), "outbox.db is in use: another process holds it") {
		t.Errorf("a second Open: %v", err)
	}
	r.mustAppend(newBatch(uuid.New(), "b", 1))
}

// TestOutboxRemoved takes no upload that would be kept in a file that nobody finds again.
func TestOutboxRemoved(t *testing.T) {
	r := newRig(t, nil)
	r.mustAppend(newBatch(uuid.New(), "a", 1))
	path := filepath.Join(r.dir, databaseName)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := r.Append(t.Context(), newBatch(uuid.New(), "b", 1))
	if !fault.Is(err, fault.StoreUnavailable) || !strings.Contains(fault.From(err).Message, "removed or replaced") {
		t.Errorf("an upload without an outbox: %v", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	r.mustAppend(newBatch(uuid.New(), "b", 1))
}

// TestOutboxGoneBesideItsWAL opens what a crash left of an outbox without its database: SQLite
// would take the WAL for a leftover and delete it, with what a side is owed.
func TestOutboxGoneBesideItsWAL(t *testing.T) {
	r := newRig(t, nil)
	r.mysql.set(fails)
	r.mustAppend(newBatch(uuid.New(), "owed", 1))
	copied := r.copyOutbox()
	if err := os.Remove(filepath.Join(copied, databaseName)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: copied, CSV: r.csv, MySQL: r.mysql})
	if err == nil || !strings.Contains(err.Error(), "outbox.db is missing or empty") {
		t.Errorf("Open: %v", err)
	}
	if info, err := os.Stat(filepath.Join(copied, databaseName+"-wal")); err != nil || info.Size() == 0 {
		t.Errorf("the WAL is gone: %v", err)
	}
	r.heal()
}

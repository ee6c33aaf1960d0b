package dual

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// failSyncs makes the given number of SQLite's next fsyncs fail, after its writes went
// through. The outbox must be idle.
func (r *rig) failSyncs(t *testing.T) *atomic.Int64 {
	t.Helper()
	r.idle()
	return sqlitetest.FailSyncs(t, filepath.Join(r.options.Dir, databaseName))
}

// idle waits until settled rows are gone from the database: their removal must not take the
// failure that is meant for an upload.
func (r *rig) idle() {
	r.t.Helper()
	if !soon(func() bool { return len(r.outbox.takeStock()) == 0 }) {
		r.t.Fatal("the outbox does not come to rest")
	}
}

// rowsAfterCrash counts the rows that a crash at this moment would leave.
func (r *rig) rowsAfterCrash() (n int) {
	r.t.Helper()
	copied := emptyDir(r.t)
	if err := copyFiles(r.options.Dir, copied); err != nil {
		r.t.Fatal(err)
	}
	db, err := databaseFile(filepath.Join(copied, databaseName)).OpenWriter(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(*) FROM batches`).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// TestFailedCommit fails the fsync of the commit that keeps a batch, whose frames are in
// the WAL then. No row of it comes back, neither when the connection is opened again nor
// after a crash, and the retry is recorded once on both sides, in its order.
func TestFailedCommit(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, nil)
		org := uuid.New()
		r.mustAppend(newBatch(org, "before", 1))
		failing := r.failSyncs(t)
		failing.Store(1)
		batch := newBatch(org, "failed", 100)
		_, err := r.Append(t.Context(), batch)
		wantCode(t, "Append when the commit fails", err, fault.StoreUnavailable)
		if n := r.rowsAfterCrash(); n != 0 {
			t.Errorf("after a crash there would be %d rows that nobody owes", n)
		}
		if restart {
			r.crash()
		}
		// Later than the one that failed: were its row to come back, it could be paid no more.
		r.mustAppend(newBatch(org, "after", 1))
		if receipt := r.mustAppend(batch); receipt.Replayed {
			t.Error("the batch that failed was recorded")
		}
		r.reopen()
		r.settled()
		got := lines(t, r.csv, org)
		if len(got) != 102 {
			t.Errorf("%d records, want 102", len(got))
		}
		r.wantBoth(org, got)
		if n := r.rows(); n != 0 {
			t.Errorf("%d rows stay", n)
		}
		failing.Store(0)
	}
}

// TestDiskKeepsFailing accepts nothing while a failed commit could not be overwritten, and
// everything afterwards.
func TestDiskKeepsFailing(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mustAppend(newBatch(org, "before", 1))
	failing, calls := r.failSyncs(t), r.csv.calls+r.mysql.calls
	failing.Store(1 << 30)
	for _, id := range []string{"a", "b", "a"} {
		_, err := r.Append(t.Context(), newBatch(org, id, 50))
		wantCode(t, "Append while the disk fails", err, fault.StoreUnavailable)
	}
	if more := r.csv.calls + r.mysql.calls - calls; more != 0 {
		t.Errorf("the sides were asked %d times for batches that the outbox could not keep", more)
	}
	failing.Store(0)
	for _, id := range []string{"c", "a", "b"} {
		r.mustAppend(newBatch(org, id, 1))
	}
	if r.settled(); !soon(func() bool { return r.rows() == 0 }) {
		t.Errorf("%d rows stay", r.rows())
	}
	if got := lines(t, r.csv, org); len(got) != 4 {
		t.Errorf("CSV has %v", got)
	}
	r.wantBoth(org, lines(t, r.csv, org))
}

// TestCloseUncertain fails a commit that can't be overwritten at once, because the file is
// not there, and closes the store when it is.
func TestCloseUncertain(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mustAppend(newBatch(org, "before", 1))
	r.failSyncs(t).Store(1)
	path := filepath.Join(r.options.Dir, databaseName)
	row, err := newRow(r.outbox.codec, newBatch(org, "closed", 50))
	if err != nil {
		t.Fatal(err)
	}
	err = r.outbox.do(uuid.Nil, func(t tx) error {
		if err := t.insert(&row); err != nil {
			return err
		}
		return os.Rename(path, path+".away")
	})
	wantCode(t, "a commit that fails", err, fault.StoreUnavailable)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	r.reopen()
	if n := r.rows(); n != 0 {
		t.Errorf("%d rows came back", n)
	}
}

// TestAdopt finds a row of the same batch that nobody is owed, and takes its place: such a
// row would else stand in the way of each retry. One of other contents is refused.
func TestAdopt(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	batch := newBatch(org, "there", 2)
	batch.At = r.o.Now().UTC()
	left, err := newRow(r.outbox.codec, batch)
	if err == nil {
		err = r.outbox.put(left)
	}
	if err != nil {
		t.Fatal(err)
	}
	batch.At = batch.At.AddDate(0, 0, 1)
	r.mustAppend(newBatch(org, "between", 1))
	other := newBatch(org, "there", 3)
	_, err = r.Append(t.Context(), other)
	wantCode(t, "Append of other contents", err, fault.IdempotencyMismatch)
	r.mustAppend(batch)
	r.crash()
	r.settled()
	r.wantBoth(org, lines(t, r.csv, org))
	if got := lines(t, r.csv, org); len(got) != 3 {
		t.Errorf("CSV has %v", got)
	}
	if !soon(func() bool { return r.rows() == 0 }) {
		t.Errorf("%d rows stay", r.rows())
	}
}

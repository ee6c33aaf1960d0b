package sqlitedb_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// leaveUncertain fails a commit of several jobs that can't be overwritten at once, because the
// file isn't there, and puts the file back. Each job is told so, and has run once.
func leaveUncertain(t *testing.T, n *notes) {
	t.Helper()
	if err := n.Record("before", 10); err != nil {
		t.Fatal(err)
	}
	path, runs := n.file.Path, 0
	release := hold(t, n)
	var answers []<-chan error
	for i := range 3 {
		answers = append(answers, submit(t.Context(), n, sqlitedb.Job{Run: func(tx *sqlitedb.Tx) error {
			if runs++; i == 2 {
				if err := os.Rename(path, path+".away"); err != nil {
					t.Error(err)
				}
			}
			return insert(fmt.Sprint("failed ", i), 50_000)(tx)
		}}))
	}
	sqlitetest.FailSyncs(t, path).Store(1) // the job that holds the Writer writes nothing
	release()
	for _, answer := range answers {
		if err := <-answer; !sqlitedb.Uncertain(err) || sqlitedb.TroubleOf(err) != sqlitedb.Failing {
			t.Errorf("error %v, want an uncertain one of the disk", err)
		}
	}
	if runs != 3 {
		t.Errorf("%d runs of 3 jobs", runs)
	}
	if err := n.Record("refused", 10); err == nil || sqlitedb.Uncertain(err) {
		t.Errorf("error %v, want one that says that nothing is written", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
}

func wantNotes(t *testing.T, n *notes, want ...string) {
	t.Helper()
	got, err := n.Recorded()
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("there is %v, %v; want %v", got, err, want)
	}
}

// TestUncertain shows that a crash may bring about what is uncertain, whole, and that neither
// does one after a later job, however little that writes, nor Close.
func TestUncertain(t *testing.T) {
	dir := t.TempDir()
	n := opened(t, dir, nil)
	leaveUncertain(t, n)
	crashed := sqlitetest.CopyAsCrash(t, dir)
	wantNotes(t, opened(t, crashed, nil), "before", "failed 0", "failed 1", "failed 2")
	if err := n.Submit(t.Context(), sqlitedb.Job{Run: nothing}); err != nil {
		t.Fatal(err)
	}
	wantAfterCrash(t, n, dir, []string{"before"})

	dir = t.TempDir()
	n = opened(t, dir, nil)
	leaveUncertain(t, n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	wantNotes(t, opened(t, dir, nil), "before")
}

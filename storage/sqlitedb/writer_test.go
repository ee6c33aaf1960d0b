package sqlitedb_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// opened opens a database for the length of the test.
func opened(t *testing.T, dir string, change func(*sqlitedb.Options)) *notes {
	t.Helper()
	n, err := openNotes(dir, change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// hold keeps the Writer busy until the returned function is called: what is submitted
// meanwhile waits together.
func hold(t *testing.T, n *notes) (release func()) {
	t.Helper()
	busy, gate := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- n.Submit(context.Background(), sqlitedb.Job{Run: func(*sqlitedb.Tx) error {
			close(busy)
			<-gate
			return nil
		}})
	}()
	<-busy
	return func() {
		close(gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// submit puts a job behind those that wait, and returns when it does too. Its answer comes later.
func submit(ctx context.Context, n *notes, j sqlitedb.Job) (answer <-chan error) {
	before, done := n.Waiting(), make(chan error, 1)
	go func() { done <- n.Submit(ctx, j) }()
	for n.Waiting() == before {
		runtime.Gosched()
	}
	return done
}

func nothing(*sqlitedb.Tx) error { return nil }

// order is the names of the jobs that have run. The Writer's goroutine alone adds to it, until
// all were answered.
type order struct{ ran []string }

func (o *order) note(name string) func(*sqlitedb.Tx) error {
	return func(*sqlitedb.Tx) error {
		o.ran = append(o.ran, name)
		return nil
	}
}

func wantNil(t *testing.T, answers ...<-chan error) {
	t.Helper()
	for _, answer := range answers {
		if err := <-answer; err != nil {
			t.Error(err)
		}
	}
}

// TestFailedCommitStaysFailed fails the fsync of commits, small and large, once and as often
// as the Writer tries: none of it is there, now or after a crash, and all is well afterwards.
func TestFailedCommitStaysFailed(t *testing.T) {
	for _, size := range []int{10, 500_000} {
		for _, times := range []int64{1, 2, 1 << 30} {
			dir := t.TempDir()
			n := opened(t, dir, nil)
			there := []string{"first"}
			if err := n.Record("first", 10); err != nil {
				t.Fatal(err)
			}
			left := sqlitetest.FailSyncs(t, n.file.Path)
			left.Store(times)
			for i := range 2 {
				err := n.Record(fmt.Sprint(i), size)
				switch {
				case err != nil && sqlitedb.TroubleOf(err) != sqlitedb.Failing:
					t.Errorf("%v", err)
				case err == nil && left.Load() >= 0:
					t.Error("a commit succeeded without its fsync")
				case err == nil:
					there = append(there, fmt.Sprint(i))
				}
			}
			if times == 1<<30 && len(there) != 1 {
				t.Error("a commit succeeded while all fsyncs failed")
			}
			left.Store(0)
			wantAfterCrash(t, n, dir, there)
			if err := n.Record("last", 10); err != nil {
				t.Fatal(err)
			}
			wantAfterCrash(t, n, dir, append(there, "last"))
		}
	}
}

// wantAfterCrash wants these notes as the Writer sees them, and as a crash would leave them.
func wantAfterCrash(t *testing.T, n *notes, dir string, names []string) {
	t.Helper()
	var count int
	err := n.Submit(t.Context(), sqlitedb.Job{Run: func(tx *sqlitedb.Tx) error {
		return tx.QueryRow("SELECT count(*) FROM notes").Scan(&count)
	}})
	if err != nil || count != len(names) {
		t.Errorf("%d notes, %v; want %d", count, err, len(names))
	}
	after := opened(t, sqlitetest.CopyAsCrash(t, dir), nil)
	got, err := after.Recorded()
	slices.Sort(got)
	if names = slices.Sorted(slices.Values(names)); err != nil || !slices.Equal(got, names) {
		t.Errorf("after a crash there is %v, %v; want %v", got, err, names)
	}
}

// TestGroupCommit wants all that waits to share a commit, up to the limits of jobs and bytes.
func TestGroupCommit(t *testing.T) {
	for _, c := range []struct {
		jobs, bytes, each int
		commits           int64
	}{{0, 0, 1000, 1}, {10, 0, 1000, 3}, {0, 5000, 1000, 5}, {0, 5000, 5001, 25}} {
		n := opened(t, t.TempDir(), func(o *sqlitedb.Options) { o.Jobs, o.Bytes = c.jobs, c.bytes })
		release, before := hold(t, n), n.Commits()
		var answers []<-chan error
		for i := range 25 {
			answers = append(answers, submit(t.Context(), n, sqlitedb.Job{Bytes: c.each, Run: insert(fmt.Sprint(i), 10)}))
		}
		release()
		wantNil(t, answers...)
		if got := n.Commits() - before - 1; got != c.commits {
			t.Errorf("%+v: %d commits", c, got)
		}
	}
}

// TestTurns wants organizations to take turns, and each one's jobs in their order.
func TestTurns(t *testing.T) {
	n := opened(t, t.TempDir(), nil)
	var o order
	var answers []<-chan error
	release := hold(t, n)
	for _, name := range []string{"a0", "a1", "a2", "b0", "a3", "c0", "b1"} {
		answers = append(answers, submit(t.Context(), n, sqlitedb.Job{Org: uuid.UUID{name[0]}, Run: o.note(name)}))
	}
	release()
	wantNil(t, answers...)
	if want := []string{"a0", "b0", "c0", "a1", "b1", "a2", "a3"}; !slices.Equal(o.ran, want) {
		t.Errorf("they ran as %v, want %v", o.ran, want)
	}
}

// TestBadJobsFailAlone has jobs that fail, in every way there is, among good ones: these are
// recorded once, and no refused one is.
func TestBadJobsFailAlone(t *testing.T) {
	half := insert("half", 10)
	for name, bad := range map[string]func(*sqlitedb.Tx) error{
		"constraint": func(tx *sqlitedb.Tx) error { return errors.Join(half(tx), half(tx)) },
		"its own":    func(tx *sqlitedb.Tx) error { return errors.Join(half(tx), errors.New("no")) },
		"connection": func(tx *sqlitedb.Tx) error { return errors.Join(half(tx), driver.ErrBadConn) },
	} {
		t.Run(name, func(t *testing.T) {
			n := opened(t, t.TempDir(), nil)
			release := hold(t, n)
			first := submit(t.Context(), n, sqlitedb.Job{Run: insert("first", 10)})
			refused := submit(t.Context(), n, sqlitedb.Job{Run: bad})
			last := submit(t.Context(), n, sqlitedb.Job{Run: insert("last", 10)})
			release()
			wantNil(t, first, last)
			if <-refused == nil {
				t.Error("the bad job has no error")
			}
			if got, err := n.Recorded(); err != nil ||
				!slices.Equal(slices.Sorted(slices.Values(got)), []string{"first", "last"}) {
				t.Errorf("there is %v, %v", got, err)
			}
		})
	}
}

// TestSharedErrors runs no job again after an error that would meet it too.
func TestSharedErrors(t *testing.T) {
	everybodys, runs := errors.New("everybody's"), 0
	n := opened(t, t.TempDir(),
		func(o *sqlitedb.Options) { o.Shared = func(err error) bool { return errors.Is(err, everybodys) } })
	release := hold(t, n)
	counted := func(err error) sqlitedb.Job {
		return sqlitedb.Job{Run: func(*sqlitedb.Tx) error { runs++; return err }}
	}
	answers := []<-chan error{submit(t.Context(), n, counted(nil)), submit(t.Context(), n, counted(everybodys)),
		submit(t.Context(), n, counted(nil))}
	release()
	for _, answer := range answers {
		if err := <-answer; !errors.Is(err, everybodys) {
			t.Errorf("error %v", err)
		}
	}
	if runs != 2 {
		t.Errorf("%d runs, want those up to the error", runs)
	}
}

// TestAlone runs a job without a transaction, behind those that came before it.
func TestAlone(t *testing.T) {
	n := opened(t, t.TempDir(), nil)
	release := hold(t, n)
	first := submit(t.Context(), n, sqlitedb.Job{Run: insert("first", 100_000)})
	alone := submit(t.Context(), n, sqlitedb.Job{Alone: true, Run: func(tx *sqlitedb.Tx) error {
		var busy, pages, moved int
		return tx.Conn().QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	}})
	wrong := submit(t.Context(), n, sqlitedb.Job{Alone: true, Run: func(*sqlitedb.Tx) error { return driver.ErrBadConn }})
	last := submit(t.Context(), n, sqlitedb.Job{Run: insert("last", 10)})
	release()
	wantNil(t, first, alone, last)
	if err := <-wrong; !errors.Is(err, driver.ErrBadConn) {
		t.Errorf("error %v", err)
	}
}

// ended is a context that has ended, though nobody was told.
type ended struct{ context.Context }

func (ended) Done() <-chan struct{} { return nil }

// TestContexts runs no job whose context ends before it begins, however that is noticed, and
// finishes one that has begun.
func TestContexts(t *testing.T) {
	n := opened(t, t.TempDir(), nil)
	release := hold(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	left := submit(ctx, n, sqlitedb.Job{Run: insert("left", 10)})
	unseen := submit(ended{ctx}, n, sqlitedb.Job{Run: insert("unseen", 10)})
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) { // while the Writer is held
		t.Errorf("error %v", err)
	}
	if waiting := n.Waiting(); waiting != 1 {
		t.Errorf("%d jobs wait, and their caller has left", waiting)
	}
	release()
	if err := <-unseen; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := n.Submit(ctx, sqlitedb.Job{Run: insert("late", 10)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	begun, cancel := context.WithCancel(t.Context())
	err := n.Submit(begun, sqlitedb.Job{Run: func(tx *sqlitedb.Tx) error {
		cancel()
		return insert("begun", 10)(tx)
	}})
	if got, failed := n.Recorded(); errors.Join(err, failed) != nil || !slices.Equal(got, []string{"begun"}) {
		t.Errorf("there is %v, %v, %v", got, err, failed)
	}
}

// TestCloseDrains closes the Writer with jobs that wait, more than a transaction takes: each is
// done, none joins them, and the database is one file then.
func TestCloseDrains(t *testing.T) {
	dir := t.TempDir()
	n := opened(t, dir, func(o *sqlitedb.Options) { o.Jobs = 8 })
	var answers []<-chan error
	release := hold(t, n)
	for i := range 20 {
		answers = append(answers, submit(t.Context(), n, sqlitedb.Job{Run: insert(fmt.Sprint(i), 10)}))
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	release()
	wg.Wait()
	wantNil(t, answers...)
	if err := n.Submit(t.Context(), sqlitedb.Job{Run: nothing}); !errors.Is(err, sqlitedb.ErrClosed) ||
		sqlitedb.TroubleOf(err) != sqlitedb.Closed {
		t.Errorf("error %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("there is %v, %v", left, err)
	}
	if got, err := n.Recorded(); err != nil || len(got) != 20 {
		t.Errorf("%d notes, %v", len(got), err)
	}
}

// TestInPlace writes nothing to a file that was moved away or replaced, not even when the
// connection has to be opened again, and goes on when it is back.
func TestInPlace(t *testing.T) {
	n := opened(t, t.TempDir(), nil)
	path := n.file.Path
	if err := n.Record("before", 10); err != nil {
		t.Fatal(err)
	}
	for _, lose := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(path, nil, 0o600) },
	} {
		_ = n.Submit(t.Context(), sqlitedb.Job{Run: func(*sqlitedb.Tx) error { return driver.ErrBadConn }})
		if err := errors.Join(os.Rename(path, path+".away"), lose()); err != nil {
			t.Fatal(err)
		}
		if err := n.Record("lost", 10); !errors.Is(err, sqlitedb.ErrNotInPlace) || n.InPlace() == nil {
			t.Errorf("error %v", err)
		}
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			t.Errorf("%d bytes were written to another file", info.Size())
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Record("after", 10); err != nil {
		t.Error(err)
	}
}

// TestCloseOutOfPlace closes a Writer whose file was removed: its WAL stays, so that the next
// start notices, and doesn't begin anew.
func TestCloseOutOfPlace(t *testing.T) {
	dir := t.TempDir()
	n := opened(t, dir, nil)
	if err := n.Record("before", 10); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(n.file.Path, n.file.Path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := openNotes(dir, nil); err == nil || !strings.Contains(err.Error(), "missing or empty") {
		t.Errorf("error %v", err)
	}
	if err := os.Rename(n.file.Path+".away", n.file.Path); err != nil {
		t.Fatal(err)
	}
	again := opened(t, dir, nil)
	if got, err := again.Recorded(); err != nil || len(got) != 1 {
		t.Errorf("there is %v, %v", got, err)
	}
}

// TestHooks counts when the store's own functions are called.
func TestHooks(t *testing.T) {
	var called []string
	hook := func(name string) func() { return func() { called = append(called, name) } }
	in := func(name string) func(*sqlitedb.Tx) error {
		return func(tx *sqlitedb.Tx) error { hook(name)(); return tx.Conn().PingContext(context.Background()) }
	}
	explained := errors.New("in the store's words")
	n := opened(t, t.TempDir(), func(o *sqlitedb.Options) {
		o.Connected, o.Begun, o.Committed, o.Undone = in("connected"), in("begun"), hook("committed"), hook("undone")
		o.Ending = in("ending")
		o.InPlace = func(tx *sqlitedb.Tx, err error) error {
			called = append(called, fmt.Sprint("in place ", tx != nil))
			return err
		}
		o.Explain = func(err error) error { return errors.Join(explained, err) }
	})
	for _, fail := range []error{nil, errors.New("no"), driver.ErrBadConn, nil} {
		err := n.Submit(t.Context(), sqlitedb.Job{Run: func(*sqlitedb.Tx) error { hook("job")(); return fail }})
		if !errors.Is(err, fail) || (fail != nil) != errors.Is(err, explained) {
			t.Errorf("error %v, want %v", err, fail)
		}
	}
	want := []string{
		"connected",
		"in place true", "begun", "job", "ending", "committed",
		"in place true", "begun", "job", "undone",
		"in place true", "begun", "job", "undone",
		"in place false", "connected", "begun", "job", "ending", "committed",
	}
	if !slices.Equal(called, want) {
		t.Errorf("called as %q, want %q", called, want)
	}
}

// TestStatements prepares each text once for a connection.
func TestStatements(t *testing.T) {
	n := opened(t, t.TempDir(), nil)
	err := n.Submit(t.Context(), sqlitedb.Job{Run: func(tx *sqlitedb.Tx) error {
		one, err := tx.Stmt("SELECT 1")
		again, err2 := tx.Stmt("SELECT 1")
		var got int
		if one != again || tx.QueryRow("SELECT 1").Scan(&got) != nil || got != 1 {
			t.Error("another statement")
		}
		if tx.QueryRow("SELECT nonsense").Scan(&got) == nil {
			t.Error("no error of a statement that is none")
		}
		return errors.Join(err, err2)
	}})
	if err != nil {
		t.Error(err)
	}
}

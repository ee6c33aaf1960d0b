package sqlitetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// Store is what is built on a sqlitedb.Writer, as the suite uses it.
type Store interface {
	// Record records something of about so many bytes under a name that no other call has.
	Record(name string, bytes int) error
	// Recorded returns the names of all that is recorded, in any order.
	Recorded() ([]string, error)
	Close() error
}

// Engine is a kind of Store.
type Engine struct {
	// Open opens a store in a folder, a new one or one that was used before.
	Open func(dir string) (Store, error)
	// Database is where the Writer's file is in the folder.
	Database string
}

// Run holds an engine to what a Writer promises for when things go wrong, in words that go for
// all that is built on one: what was acknowledged is there, and what was refused isn't, now and
// after a crash. The engine's TestMain has to call ChildMain.
func Run(t *testing.T, e Engine) {
	for _, bytes := range []int{10, 500_000} {
		for _, times := range []int64{1, 2, always} {
			t.Run(fmt.Sprintf("FailedCommit of %d bytes, %d times", bytes, times),
				func(t *testing.T) { e.checkFailedCommit(t, bytes, times) })
		}
	}
	t.Run("CloseAfterFailedCommit", e.checkClose)
	t.Run("CrashAfterFailedCommit", e.checkCrash)
	t.Run("Kill", e.checkKill)
}

// always is for as long as the test wants.
const always = 1 << 40

func (e Engine) open(t testing.TB, dir string) Store {
	t.Helper()
	s, err := e.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t testing.TB, s Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// recorded returns what is there.
func recorded(t testing.TB, s Store) []string {
	t.Helper()
	names, err := s.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func want(t testing.TB, when string, s Store, names []string) {
	t.Helper()
	names = slices.Sorted(slices.Values(names))
	if got := recorded(t, s); !slices.Equal(got, names) {
		t.Errorf("%s there is %v, want %v", when, got, names)
	}
}

// wantAfterCrash wants this in the store, and in what a crash would leave of it.
func (e Engine) wantAfterCrash(t *testing.T, s Store, dir string, names []string) {
	t.Helper()
	want(t, "now", s, names)
	after := e.open(t, CopyAsCrash(t, dir))
	defer shut(t, after)
	want(t, "after a crash", after, names)
}

// begin opens a store with something in it, and has its fsyncs fail as often as is stored.
func (e Engine) begin(t *testing.T) (s Store, dir string, failing interface{ Store(int64) }) {
	t.Helper()
	dir = t.TempDir()
	s = e.open(t, dir)
	if err := s.Record("before", 10); err != nil {
		t.Fatal(err)
	}
	return s, dir, FailSyncs(t, filepath.Join(dir, e.Database))
}

// checkFailedCommit fails the fsync of commits, whose frames are in the WAL then.
func (e Engine) checkFailedCommit(t *testing.T, bytes int, times int64) {
	s, dir, failing := e.begin(t)
	defer func() { shut(t, s) }()
	failing.Store(times)
	there, failed := []string{"before"}, 0
	for _, name := range []string{"a", "b"} {
		err := s.Record(name, bytes)
		if err == nil {
			there = append(there, name)
			continue
		}
		failed++
		if times == 1 { // what failed is overwritten, and it is certain at once that it has
			if sqlitedb.Uncertain(err) {
				t.Errorf("uncertain, though the disk is well again: %v", err)
			}
			e.wantAfterCrash(t, s, dir, there)
		}
	}
	if times == always && failed != 2 {
		t.Errorf("a commit succeeded while all fsyncs failed")
	}
	failing.Store(0)
	if err := s.Record("mended", bytes); err != nil {
		t.Fatal(err)
	}
	there = append(there, "mended")
	e.wantAfterCrash(t, s, dir, there)
}

// checkClose closes a store when a commit that failed could not be overwritten yet.
func (e Engine) checkClose(t *testing.T) {
	s, dir, failing := e.begin(t)
	failing.Store(always)
	if err := s.Record("failed", 50_000); err == nil {
		t.Error("a commit succeeded while all fsyncs failed")
	}
	failing.Store(0)
	shut(t, s)
	s = e.open(t, dir)
	defer shut(t, s)
	want(t, "after a restart", s, []string{"before"})
}

// checkCrash crashes then: what failed has happened, whole, or not, and all goes on.
func (e Engine) checkCrash(t *testing.T) {
	s, dir, failing := e.begin(t)
	failing.Store(always)
	err := s.Record("failed", 50_000)
	if err == nil {
		t.Error("a commit succeeded while all fsyncs failed")
	}
	crashed := CopyAsCrash(t, dir)
	failing.Store(0)
	shut(t, s)
	s = e.open(t, crashed)
	defer shut(t, s)
	there := recorded(t, s)
	if !slices.Equal(there, []string{"before"}) &&
		!(sqlitedb.Uncertain(err) && slices.Equal(there, []string{"before", "failed"})) {
		t.Errorf("after a crash there is %v, and the error was %v", there, err)
	}
	if err := s.Record("after", 10); err != nil {
		t.Fatal(err)
	}
	want(t, "later", s, append(there, "after"))
}

// CopyAsCrash copies what a crash of the process would leave of a folder whose stores write
// nothing at the moment, into a new one: all but the memory that SQLite's connections share.
func CopyAsCrash(t testing.TB, dir string) (copied string) {
	t.Helper()
	copied = t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(copied, func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".db-shm" {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

package sqlite

import (
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func TestOpenTwice(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	wantRefused(t, dir, "another holdfast process")
	_, lines := startChild(t, dir)
	if lines.Scan(); !strings.Contains(lines.Text(), "another holdfast process") {
		t.Errorf("another process: %q", lines.Text())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, databaseName+"-*")); err != nil || len(left) > 0 {
		t.Errorf("Close left %v (%v)", left, err)
	}
	child, lines := startChild(t, dir)
	if lines.Scan(); lines.Text() != "open" {
		t.Fatalf("after Close, another process: %q", lines.Text())
	}
	wantRefused(t, dir, "another holdfast process")
	_, _ = child.Process.Kill(), child.Wait()
	if err := open(t, dir).Close(); err != nil {
		t.Error(err)
	}
}

func wantRefused(t *testing.T, dir, message string) {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, Master: sealtest.Master()})
	if err == nil {
		_ = s.Close()
		t.Fatal("Open was not refused")
	}
	if !strings.Contains(err.Error(), message) {
		t.Errorf("error %q, want one with %q", err, message)
	}
}

// TestOpenKilled kills a process while it makes and migrates a new database.
func TestOpenKilled(t *testing.T) {
	suite.Deep(t)
	for range 20 {
		dir := t.TempDir()
		child, _ := startChild(t, dir)
		time.Sleep(time.Duration(rand.Int64N(int64(40 * time.Millisecond))))
		_, _ = child.Process.Kill(), child.Wait()
		s := open(t, dir)
		ref := newRef("killed")
		mustPut(t, s, ref, []byte("{}"))
		wantBody(t, s, ref, []byte("{}"))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenBetween opens what a kill between the first two steps of a migration leaves.
func TestOpenBetween(t *testing.T) {
	dir := t.TempDir()
	execFile(t, dir, `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`)
	if err := open(t, dir).Close(); err != nil {
		t.Error(err)
	}
}

// execFile runs statements on the database as another program would.
func execFile(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestOpenNewerSchema(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	execFile(t, dir, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	wantRefused(t, dir, "newer holdfast")
}

func TestOpenBeforeBaseline(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	execFile(t, dir, `UPDATE goose_db_version SET version_id = 12 WHERE version_id > 0`)
	wantRefused(t, dir, `"holdfast export"`)
}

func TestOpenForeign(t *testing.T) {
	dir := t.TempDir()
	execFile(t, dir, "CREATE TABLE wine (year INTEGER)")
	wantRefused(t, dir, "another application")
	execFile(t, dir, "PRAGMA application_id = 1234")
	wantRefused(t, dir, "another application")
}

func TestOpenNotADatabase(t *testing.T) {
	for _, content := range []string{"x", strings.Repeat("not a database ", 1000)} {
		dir := t.TempDir()
		path := filepath.Join(dir, databaseName)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, dir, "is not an SQLite database")
		if left, err := os.ReadFile(path); err != nil || string(left) != content {
			t.Errorf("the file was changed (%v)", err)
		}
	}
}

// TestModes tries a umask that takes nothing away and one that takes too much.
func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o277} {
		old := syscall.Umask(umask)
		dir := filepath.Join(t.TempDir(), "a", "data")
		if umask != 0 {
			dir = filepath.Join(t.TempDir(), "data")
		}
		s := open(t, dir)
		syscall.Umask(old)
		mustPut(t, s, newRef("modes"), []byte("{}"))
		want := map[string]os.FileMode{".": 0o700, databaseName: 0o600, databaseName + "-wal": 0o600,
			databaseName + "-shm": 0o600, lockName: 0o600}
		for name, mode := range want {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != mode {
				t.Errorf("umask %#o: %s has mode %#o, want %#o", umask, name, info.Mode().Perm(), mode)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

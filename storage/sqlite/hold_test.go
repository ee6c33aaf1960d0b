package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenTwiceWithoutLockFile removes the lock file of a database that is open: no other
// process may have it all the same.
func TestOpenTwiceWithoutLockFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	lock := filepath.Join(dir, lockName)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	child, lines := startChild(t, dir)
	if lines.Scan(); !strings.Contains(lines.Text(), "state.db is in use: another process holds it") {
		t.Errorf("another process: %q", lines.Text())
	}
	_, _ = child.Process.Kill(), child.Wait()
	mustPut(t, s, newRef("held"), []byte("{}"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	child, lines = startChild(t, dir)
	if lines.Scan(); lines.Text() != "open" {
		t.Fatalf("after Close, another process: %q", lines.Text())
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, "state.db is in use: another process holds it")
	_, _ = child.Process.Kill(), child.Wait()
}

package pgtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// A private server comes back after a crash with what it had, and leaves nothing behind when it is stopped.
func TestPrivateServer(t *testing.T) {
	suite.Deep(t)
	if _, err := programs(); err != nil && !Kind().IsRequired() {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "pgtest-") // those of t.TempDir let nobody else through
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	s, err := Start(t.Context(), "fsync=on")
	if err != nil {
		t.Fatal(err)
	}
	if err := Exec(t.Context(), s.URL, "CREATE TABLE x (y INT)"); err != nil {
		t.Error(err)
	}
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	if err := Exec(t.Context(), s.URL, "SELECT 1"); err == nil {
		t.Error("it lets in though it was killed")
	}
	if err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if err := Exec(t.Context(), s.URL, "INSERT INTO x VALUES (1)"); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if err := Exec(t.Context(), s.URL, "SELECT 1"); err == nil {
		t.Error("it still lets in")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %s, %v", strings.Join(left, " "), err)
	}
}

//go:build unix

package seal_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/seal"
)

// Nobody waits for a pipe, or takes a folder for a key.
func TestMasterFileIsAFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{dir, pipe} {
		if _, err := seal.ReadMasterFile(path); err == nil || !strings.Contains(err.Error(), "is not a file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := seal.ReadMasterFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A command may put a link in the place of its own folder: what it leads to is not the run's.
func TestFilesBehindLinkedFoldersAreNotRead(t *testing.T) {
	run, other := t.TempDir(), t.TempDir()
	inside := filepath.Join(run, "config", "a")
	err := errors.Join(
		os.MkdirAll(inside, 0o700), os.WriteFile(filepath.Join(inside, erroredState), []byte("own"), 0o600),
		os.WriteFile(filepath.Join(other, erroredState), []byte("other"), 0o600),
		os.Symlink(other, filepath.Join(run, "config", "b")),
	)
	if err != nil {
		t.Fatal(err)
	}
	f, err := openRegular(run, filepath.Join(inside, erroredState))
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if f, err := openRegular(run, filepath.Join(run, "config", "b", erroredState)); err == nil {
		_ = f.Close()
		t.Error("the other folder's file is read")
	}
}

func TestWipeOpensNothingBehindLinks(t *testing.T) {
	folder, outside := filepath.Join(t.TempDir(), "run"), t.TempDir()
	closed := filepath.Join(folder, "closed")
	err := errors.Join(
		os.MkdirAll(filepath.Join(closed, "in"), 0o700), os.Symlink(outside, filepath.Join(folder, "link")),
		os.Chmod(outside, 0o500), os.Chmod(closed, 0),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := wipe(folder); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the folder outside is %v, %v", info, err)
	}
}

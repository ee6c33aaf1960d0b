//go:build unix

package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLocked: one at a time works on a file, and the lock belongs to whom the file does.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o600))
	owner := os.Geteuid()
	if owner == 0 {
		owner = 54321
		must(t, os.Chown(path, owner, owner))
	}
	must(t, Locked(t.Context(), path, func() error {
		info, err := os.Stat(path + ".lock")
		must(t, err)
		if got := int(info.Sys().(*syscall.Stat_t).Uid); got != owner || info.Mode().Perm() != 0o600 {
			t.Errorf("the lock belongs to %d with the mode %v, the file to %d", got, info.Mode(), owner)
		}
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		err = Locked(ctx, path, func() error { t.Error("two work on it at once"); return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		return nil
	}))
	failed := errors.New("it failed")
	if err := Locked(t.Context(), path, func() error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
}

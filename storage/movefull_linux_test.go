package storage_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
)

// TestMoveToFullDisk: a move ends when the target's disk is full, and goes on when there is room.
func TestMoveToFullDisk(t *testing.T) {
	s := ends(t)
	w := newWorld(t, s)
	want := listen(t, s, w)
	carry(t, s, configs.SQLite, configs.MySQL)

	small := filepath.Join(t.TempDir(), "small")
	must(t, os.Mkdir(small, 0o700))
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, 0); err != nil {
			t.Error(err)
		}
	})
	back := with(s, small)
	m := openMove(t, back, configs.MySQL, configs.SQLite)
	_, err := m.Begin(t.Context())
	must(t, err)
	err = m.Copy(t.Context(), false, func(string, int, int) {})
	if fault.From(err).Code != fault.StoreFull {
		t.Errorf("a disk that is full: %v", err)
	}
	_ = m.Close() // which finds no room either

	must(t, syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size=256m"))
	carry(t, back, configs.MySQL, configs.SQLite)
	wantSame(t, want, listen(t, back, w))
}

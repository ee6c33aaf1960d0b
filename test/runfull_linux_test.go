//go:build e2e

package test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
)

// smallDisk mounts a file system of this size.
func smallDisk(t *testing.T, path, size string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "mode=700,size="+size); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(path, syscall.MNT_DETACH) })
}

// fillDisk takes all the room that a disk has, until free is called.
func fillDisk(t *testing.T, disk string) (free func()) {
	t.Helper()
	filler := filepath.Join(disk, "filler")
	for size := 1 << 20; size >= 1; size /= 16 { // to the last byte
		f, err := os.OpenFile(filler, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		_ = f.Close()
	}
	return func() {
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
	}
}

// fullWhile fills a disk while a run applies, for longer than the apply takes.
func (b *runBench) fullWhile(disk string) {
	b.Helper()
	b.workspace("full", slowly(3))
	run := b.order("full", "apply")
	b.begun(run)
	free := fillDisk(b.T, disk)
	time.Sleep(8 * time.Second)
	if now, err := b.client.Run(b.Context(), run.ID); err == nil && now.Status != "applying" && now.Status != "succeeded" {
		b.Errorf("on a full disk the run is %s: %s", now.Status, now.Reason)
	}
	free()
	b.exact(b.ended(run.ID), 3)
	b.clean()
}

// A full disk where an apply's output is spooled costs neither the apply nor what it printed.
func TestRunOnAFullSpool(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	dir := runDir(t)
	smallDisk(t, filepath.Join(dir, "w"), "16m")
	newRunBenchIn(t, dir).fullWhile(filepath.Join(dir, "w"))
}

// A store whose disk is full while an apply goes on has its state and its log once there is room.
func TestRunOnAFullStore(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	dir := runDir(t)
	smallDisk(t, filepath.Join(dir, "data"), "256m")
	newRunBenchIn(t, dir, "HOLDFAST_DISK_RESERVE=off").fullWhile(filepath.Join(dir, "data"))
}

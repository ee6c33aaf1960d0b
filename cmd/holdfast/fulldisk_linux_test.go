package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of this size where the server has its data.
func (o tenant) smallDisk(size string) (dir string) {
	o.t.Helper()
	dir = o.file + ".data"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		o.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		o.t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	o.t.Cleanup(func() {
		// Busy when the server left a file open; and for a moment when another test is just starting
		// a process, which has all files of this one until it is another program.
		err := syscall.Unmount(dir, 0)
		for begin := time.Now(); err == syscall.EBUSY && time.Since(begin) < patience; err = syscall.Unmount(dir, 0) {
			time.Sleep(time.Millisecond)
		}
		if err != nil {
			o.t.Error(err)
		}
	})
	return dir
}

// A server does not start on a disk that is full to the brim, and says why; it starts once there is room again.
func TestStartOnFullDisk(t *testing.T) {
	o := newTenant(t)
	dir := o.smallDisk("8m")
	const noReserve = "HOLDFAST_DISK_RESERVE=off" // it is larger than the disk
	r := o.start(noReserve)
	o.reaching(r)
	o.push("app", network(1, "eu", "small"))
	r.stop()
	<-r.ended
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // until it is full
	o.environ = []string{"HOLDFAST_AUTH_FILE=" + o.file, "STORAGE_PATH=" + dir, "HOST=127.0.0.1", "PORT=0", noReserve}
	if code, _, errs := o.run("serve"); code != exitFailed || !strings.Contains(errs, "no space left on the disk") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	o.reaching(o.start(noReserve))
	if out := o.must("resource", "search", "aws_vpc"); !strings.Contains(out, "aws_vpc.net0") {
		t.Errorf("when there is room again a search finds:\n%s", out)
	}
	o.push("other", network(1, "eu", "small"))
}

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

// A disk that is full to the brim when the server starts keeps it neither from starting nor
// from serving what it has.
func TestStartOnFullDisk(t *testing.T) {
	o := newTenant(t)
	dir := o.smallDisk("8m")
	const noReserve = "HOLDFAST_DISK_RESERVE=off" // it is larger than the disk
	r := o.start(noReserve, "HOLDFAST_SEAL_PLAIN_INDEX=true")
	o.reaching(r)
	o.push("app", network(1, "eu", "small"))
	o.must("resource", "search", "aws_vpc")
	r.stop()
	<-r.ended
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // until it is full
	r = o.start(noReserve, "HOLDFAST_SEAL_PLAIN_INDEX=true")
	o.reaching(r)
	if status, body := o.call(r, "GET", "/api/v1/state/app", ""); status != 200 {
		t.Errorf("a read: %d %s", status, body)
	}
	for what, call := range map[string]func() (int, string){
		"a write":  func() (int, string) { return o.call(r, "POST", "/api/v1/state/other", network(1, "eu", "small")) },
		"a search": func() (int, string) { return o.call(r, "GET", "/api/v1/resources?q=aws_vpc", "") },
	} {
		if status, body := call(); status != 507 || !strings.Contains(body, "no space left on the disk") {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if out := o.must("resource", "search", "aws_vpc"); !strings.Contains(out, "aws_vpc.net0") {
		t.Errorf("when there is room again a search finds:\n%s", out)
	}
	o.push("other", network(1, "eu", "small"))
}

// Whatever stands where the index should, the rest is served; and once it is gone, or the
// index is gone while the server runs, searches find everything again by themselves.
func TestIndexThatIsNotThere(t *testing.T) {
	o := newTenant(t)
	path := filepath.Join(o.file+".data", "resources.db")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	r := o.start("HOLDFAST_SEAL_PLAIN_INDEX=true")
	o.reaching(r)
	o.push("app", network(1, "eu", "small"))
	if status, body := o.call(r, "GET", "/api/v1/resources?q=aws_vpc", ""); status != 503 ||
		!strings.Contains(body, "store_unavailable") {
		t.Errorf("a search without an index: %d %s", status, body)
	}
	for range 2 {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if out := o.must("resource", "search", "aws_vpc"); !strings.Contains(out, "aws_vpc.net0") ||
				strings.Contains(out, "not in the answer") {
				t.Fatalf("a search finds:\n%s", out)
			}
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("no index was made: %v", err)
		}
	}
}

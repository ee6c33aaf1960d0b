package shim

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of this size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// The disk of the shim's folder is full while the command writes: the command goes on, what
// could be kept comes when there is room, and how it ended is known even on the full disk.
func TestFullDiskEndsNoCommand(t *testing.T) {
	disk := smallDisk(t, "8m")
	spec := script(t, `echo begun; while [ ! -e go ]; do sleep 0.01; done; seq 1 600000; echo the end; touch written; while [ ! -e stop ]; do sleep 0.01; done; echo after; exit 3`)
	spec.Dir, spec.Room = filepath.Join(disk, "shim"), time.Millisecond
	p := start(t, spec)
	untilSaid(t, p, "begun")
	filler := filepath.Join(disk, "filler")
	_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // until it is full
	must(t, os.WriteFile(filepath.Join(spec.WorkDir, "go"), nil, 0o600))
	until(t, "all is written",
		func() bool { _, err := os.Stat(filepath.Join(spec.WorkDir, "written")); return err == nil })
	must(t, os.Remove(filler))
	untilSaid(t, p, "the end")
	_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600)
	must(t, p.Interrupt(t.Context())) // which is recorded on a full disk too; the shell minds it not before its child ends
	must(t, os.WriteFile(filepath.Join(spec.WorkDir, "stop"), nil, 0o600))
	exit := wait(t, p)
	log := output(t, p, Log)
	if !exit.Interrupted || exit.Lost[Log] == 0 {
		t.Errorf("the exit is %+v", exit)
	}
	if !strings.HasPrefix(log, "begun\n1\n2\n") && !strings.HasPrefix(log, "begun\n\n[holdfast: ") ||
		!strings.Contains(log, " bytes of output are missing here]\n") {
		t.Errorf("the log begins with %q", log[:min(len(log), 200)])
	}
}

// The disk is full when the command ends, and has room a little later: nothing is lost.
func TestFullDiskAtTheEnd(t *testing.T) {
	disk := smallDisk(t, "8m")
	spec := script(t, `echo begun; while [ ! -e go ]; do sleep 0.01; done; seq 1 20000; echo the end`)
	spec.Dir = filepath.Join(disk, "shim")
	p := start(t, spec)
	untilSaid(t, p, "begun")
	filler := filepath.Join(disk, "filler")
	_ = os.WriteFile(filler, make([]byte, 16<<20), 0o600) // until it is full
	must(t, os.WriteFile(filepath.Join(spec.WorkDir, "go"), nil, 0o600))
	until(t, "the command has ended", func() bool {
		identity, err := p.Identity()
		must(t, err)
		return syscall.Kill(identity.Command.Number, 0) != nil
	})
	must(t, os.Remove(filler))
	exit := wait(t, p)
	if log := output(t, p, Log); exit.Lost[Log] != 0 || !strings.HasSuffix(log, "\n20000\nthe end\n") {
		t.Errorf("the exit is %+v, the log ends with %q", exit, log[max(0, len(log)-100):])
	}
}

// A disk that is full at the start starts nothing, and says so.
func TestFullDiskAtTheStart(t *testing.T) {
	disk := smallDisk(t, "1m")
	spec := script(t, `touch ran`)
	spec.Dir = filepath.Join(disk, "shim")
	_ = os.WriteFile(filepath.Join(disk, "filler"), make([]byte, 2<<20), 0o600)
	p, err := Start(t.Context(), spec)
	if err == nil {
		var status Status
		status, err = p.Wait(t.Context())
		if status.Condition == Ended && status.Exit.Failed == "" || status.Condition != NeverBegan &&
			status.Condition != Ended {
			t.Errorf("the command is %+v, %v", status, err)
		}
	}
	if _, err := os.Stat(filepath.Join(spec.WorkDir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

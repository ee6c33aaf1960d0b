package server

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// crashing is set in the environment of a process that crashes with a secret in its memory.
const crashing = "HOLDFAST_TEST_CRASH"

// TestNoCore crashes a process the way that leaves a core dump: there is none.
func TestNoCore(t *testing.T) {
	if os.Getenv(crashing) != "" {
		leaveNoCore(t.Context(), slog.New(slog.DiscardHandler))
		_ = syscall.Kill(os.Getpid(), syscall.SIGABRT)
		select {}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestNoCore$")
	child.Dir = t.TempDir()
	child.Env = append(os.Environ(), crashing+"=1", "GOTRACEBACK=crash")
	out, err := child.CombinedOutput()
	status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || !ok || !status.Signaled() {
		t.Fatalf("it did not crash: %v\n%s", err, out)
	}
	if status.CoreDump() {
		t.Error("a core was dumped")
	}
	if left, _ := filepath.Glob(filepath.Join(child.Dir, "*")); len(left) > 0 {
		t.Errorf("it has left %v", left)
	}
}

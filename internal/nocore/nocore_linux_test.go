package nocore

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// crashing is set in the environment of a process that crashes with a secret in its memory, to who crashes: the process
// itself, or a child of it.
const crashing = "HOLDFAST_TEST_CRASH"

// TestNoCore crashes a process the way that leaves a core dump, and a child of one: there is none.
func TestNoCore(t *testing.T) {
	if who := os.Getenv(crashing); who != "" {
		crash(who)
	}
	for _, who := range []string{"itself", "child"} {
		child := exec.Command(os.Args[0], "-test.run", "^TestNoCore$")
		child.Dir = t.TempDir()
		child.Env = append(os.Environ(), crashing+"="+who, "GOTRACEBACK=crash")
		out, err := child.CombinedOutput()
		status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
		if err == nil || !ok || !status.Signaled() {
			t.Fatalf("%s did not crash: %v\n%s", who, err, out)
		}
		if status.CoreDump() || strings.Contains(string(out), "core dumped") {
			t.Errorf("%s: a core was dumped: %s", who, out)
		}
		if left, _ := filepath.Glob(filepath.Join(child.Dir, "*")); len(left) > 0 {
			t.Errorf("%s has left %v", who, left)
		}
	}
}

func crash(who string) {
	if err := Set(); err != nil {
		panic(err)
	}
	if who == "child" { // which says itself whether it was dumped, and then its parent crashes as well
		shell := exec.Command("sh", "-c", "kill -QUIT $$")
		_ = shell.Run()
		if shell.ProcessState.Sys().(syscall.WaitStatus).CoreDump() {
			_, _ = os.Stdout.WriteString("core dumped\n")
		}
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGABRT)
	select {}
}

// TestLowered: where somebody has set the limit to 0 it stays so, and fails only where cores are piped all the same.
func TestLowered(t *testing.T) {
	const lowered = "HOLDFAST_TEST_LOWERED"
	if os.Getenv(lowered) != "" {
		zero := unix.Rlimit{}
		if err := errors.Join(unix.Setrlimit(unix.RLIMIT_CORE, &zero), unix.Setuid(65534)); err != nil {
			t.Skip(err)
		}
		pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
		if err := Set(); (err != nil) != strings.HasPrefix(string(pattern), "|") {
			t.Errorf("%v, and cores go to %s", err, pattern)
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestLowered$")
	child.Env = append(os.Environ(), lowered+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestHide: who hides reads of itself what it needs, and no other process of the user reads its memory.
func TestHide(t *testing.T) {
	const hidden = "HOLDFAST_TEST_HIDDEN"
	if os.Getenv(hidden) == "" {
		child := exec.Command(os.Args[0], "-test.run", "^TestHide$")
		child.Env = append(os.Environ(), hidden+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if os.Getuid() == 0 {
		if err := unix.Setuid(65534); err != nil { // root reads all
			t.Skip(err)
		}
	}
	if err := Hide(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/proc/self/stat", "/proc/self/cgroup", "/proc/self/mountinfo"} {
		if _, err := os.ReadFile(path); err != nil {
			t.Errorf("it can't read of itself: %v", err)
		}
	}
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Errorf("it can't list its files: %v", err)
	}
	if _, err := os.Readlink("/proc/self/exe"); err != nil {
		t.Errorf("it does not know its program: %v", err)
	}
	other := exec.Command("sh", "-c", "read x < /proc/$PPID/environ")
	if out, err := other.CombinedOutput(); err == nil {
		t.Errorf("another process reads its environment: %s", out)
	}
}

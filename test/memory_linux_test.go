//go:build e2e

package test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	peak     = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
	resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
)

// residentOf is how many bytes of memory a process has.
func residentOf(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := resident.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no memory in %s", status)
	}
	kB, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// memory wants that the server never had more than so many MiB, and writes how much it had.
func memory(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	limit, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.server.process.cmd.Process.Pid))
	if err != nil {
		return err
	}
	found := peak.FindSubmatch(status)
	if found == nil {
		return fmt.Errorf("no peak in %s", status)
	}
	kB, err := strconv.Atoi(string(found[1]))
	if err == nil && kB > limit<<10 {
		err = fmt.Errorf("the server had %d MiB at its peak; at most %d are allowed", kB>>10, limit)
	}
	ts.Logf("the server had %d MiB at its peak", kB>>10)
	return err
}

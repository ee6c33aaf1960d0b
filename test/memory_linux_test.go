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
	memoryOf = regexp.MustCompile(`(?m)^(VmHWM|RssFile):\s+(\d+) kB$`)
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

// memory wants that the server never had more than so many MiB beside its program, and writes how much it had.
func memory(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	limit, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	had, program, err := peakOf(w.server.process.cmd.Process.Pid)
	if err == nil && had > limit {
		err = fmt.Errorf("the server had %d MiB at its peak, beside %d MiB of its program; at most %d are allowed", had,
			program, limit)
	}
	ts.Logf("the server had %d MiB at its peak, beside %d MiB of its program", had, program)
	return err
}

// peakOf is how many MiB of memory a process had at most, beside the pages of its own program, which the system can
// drop at any time, and how many those are.
func peakOf(pid int) (had, program int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	kB := map[string]int{}
	for _, found := range memoryOf.FindAllSubmatch(status, -1) {
		kB[string(found[1])], _ = strconv.Atoi(string(found[2])) // matched digits
	}
	if len(kB) != 2 {
		return 0, 0, fmt.Errorf("no peak in %s", status)
	}
	return (kB["VmHWM"] - kB["RssFile"]) >> 10, kB["RssFile"] >> 10, nil
}

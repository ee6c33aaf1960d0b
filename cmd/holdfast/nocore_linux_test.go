package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCommandsLeaveNoCore ends commands that have secrets in memory, of which each waits for something, in the ways
// that leave a core dump behind where that is allowed. There is none.
func TestCommandsLeaveNoCore(t *testing.T) {
	token := filepath.Join(t.TempDir(), "pool.token")
	if err := os.WriteFile(token, []byte("pl4nted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := "http://127.0.0.1:1"
	for name, args := range map[string][]string{
		"restore":       {"restore", "-", "--to", "restored"},
		"backup verify": {"backup", "verify", "-"},
		"state push":    {"state", "push", "prod", "-"},
		"agent":         {"agent", "--server", nobody, "--pool-token-file", token, "--min-sandbox", "none"},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGABRT, syscall.SIGQUIT} {
			t.Run(fmt.Sprint(name, " ", signal), func(t *testing.T) {
				t.Parallel()
				diesWithoutCore(t, signal, args)
			})
		}
	}
}

func diesWithoutCore(t *testing.T, signal syscall.Signal, args []string) {
	t.Helper()
	dir := t.TempDir()
	const unlimited = `ulimit -S -c "$(ulimit -H -c)"; exec "$0" "$@"`
	cmd := exec.Command("sh", append([]string{"-c", unlimited, os.Args[0]}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTRACEBACK=crash", "HOLDFAST_KEY=pl4nted",
		"HOLDFAST_ORG=0b0e6a64-6a2a-4c05-a4b1-0f6b1f3f6a01", "HOLDFAST_AGENT_WORK="+filepath.Join(dir, "work"))
	stdin, err := cmd.StdinPipe() // held open
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	tiny := regexp.MustCompile(`Max core file size +[01] +[01] `)
	for late := time.After(patience); ; {
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
		if err == nil && tiny.Match(limits) {
			break
		}
		select {
		case <-ended:
			t.Fatalf("it has ended: %s", said.String())
		case <-late:
			_ = cmd.Process.Kill()
			t.Fatalf("its limits are %s", limits)
		case <-time.After(5 * time.Millisecond):
		}
	}
	_ = cmd.Process.Signal(signal)
	<-ended
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.CoreDump() {
		t.Errorf("it ended with %v: %s", cmd.ProcessState, said.String())
	}
	if cores, _ := filepath.Glob(filepath.Join(dir, "*core*")); len(cores) > 0 {
		t.Errorf("it has left %v", cores)
	}
}

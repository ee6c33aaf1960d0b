package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/holdfast/holdfast/seal/sealtest"
)

// childOpens names the directory that a child process of this test opens.
const childOpens = "HOLDFAST_TEST_OPENS"

// openAsChild is all that a child process does: it says so, opens the store, says how
// that went, and stays until it is killed.
func openAsChild() {
	dir := os.Getenv(childOpens)
	if dir == "" {
		return
	}
	fmt.Println("begins")
	if _, err := Open(context.Background(), Options{Dir: dir, Master: sealtest.Master()}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	time.Sleep(time.Minute)
	os.Exit(1)
}

// startChild returns a child process that is about to open dir, and its output.
func startChild(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOpens+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begins" {
		t.Fatalf("the child says %q", lines.Text())
	}
	return cmd, lines
}

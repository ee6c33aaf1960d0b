package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// patience is far above what any of these tests needs.
const patience = 30 * time.Second

// TestMain is also what shims, sandboxes and starters are started as.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Command:
			exit(Main())
		case SandboxedCommand:
			exit(sandbox.Enter())
		case starterCommand:
			exit(beStarter())
		}
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// script is a spec that runs lines of a shell in a folder of its own.
func script(t testing.TB, lines string) Spec {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	must(t, os.Mkdir(work, 0o700))
	return Spec{
		Dir: filepath.Join(dir, "shim"), Command: "/bin/sh", Args: []string{"-c", lines}, WorkDir: work,
		Env:     []string{"PATH=/usr/bin:/bin"},
		Sandbox: sandbox.Policy{ReadWrite: []string{work}, Bubblewrap: os.Getenv("HOLDFAST_TEST_BWRAP")},
	}
}

// outside keeps a command out of namespaces: it says who its processes are for everybody.
func outside(spec Spec) Spec {
	spec.Sandbox.MaxLevel = sandbox.Weak
	return spec
}

// start starts it. When the test is over nothing of it may be left.
func start(t testing.TB, spec Spec) *Process {
	t.Helper()
	p, err := Start(t.Context(), spec)
	must(t, err)
	t.Cleanup(func() { cleanUp(t, p) })
	return p
}

func cleanUp(t testing.TB, p *Process) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, p.Kill(ctx))
	if _, err := p.Wait(ctx); err != nil {
		t.Errorf("the command can't be ended: %v", err)
	}
}

func wait(t testing.TB, p *Process) Exit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, err := p.Wait(ctx)
	must(t, err)
	if status.Exit == nil {
		t.Fatalf("the command is %s: %s", status.Condition, status.Proof)
	}
	return *status.Exit
}

func output(t testing.TB, p *Process, stream Stream) string {
	t.Helper()
	text, err := io.ReadAll(&following{t.Context(), p.Output(stream, 0)})
	must(t, err)
	return string(text)
}

// following reads to the end, waiting for it.
type following struct {
	ctx context.Context
	out *Output
}

func (f *following) Read(p []byte) (int, error) {
	n, err := f.out.Next(f.ctx, p)
	if errors.Is(err, io.EOF) {
		_ = f.out.Close()
	}
	return n, err
}

// until waits for something that happens in other processes.
func until(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("it does not come to be that %s", what)
		}
	}
}

// untilSaid waits until the log has this text.
func untilSaid(t testing.TB, p *Process, text string) {
	t.Helper()
	until(t, fmt.Sprintf("the log says %q", text), func() bool {
		log, _ := os.ReadFile(p.folder.path(string(Log)))
		return strings.Contains(string(log), text)
	})
}

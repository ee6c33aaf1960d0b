//go:build e2e

package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// gated is a configuration with a box that waits for the file gate, and one that comes after it.
const gated = shelfHead + `
resource "shelf_box" "slow" {
  name = "slow"
  gate = "${path.module}/gate"
}
resource "shelf_box" "after" {
  name = "after"
  text = shelf_box.slow.id
}
`

// TestEngineInterruptedOnce interrupts an apply while a provider works: that comes to its end and is recorded, nothing
// else is begun, and another apply does the rest.
func TestEngineInterruptedOnce(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	w := newEngineWorld(t, "TOFU_BIN", map[string]string{"main.tf": gated})
	a := w.begin()
	a.interrupt()
	w.write(filepath.Join(w.dir, "gate"), "")
	out := a.fails()
	for _, want := range []string{"shelf_box.slow: Creating... (success", "shelf_box.after: not begun",
		"it was interrupted"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q isn't in what it says: %s", want, out)
		}
	}
	if got := strings.Fields(w.engine("state", "list")); len(got) != 1 || got[0] != "shelf_box.slow" {
		t.Errorf("it has recorded %q", got)
	}
	w.engine("apply", "--auto-approve")
	w.client("init", "-input=false")
	w.client("plan", "-input=false", "-detailed-exitcode")
}

// TestEngineInterruptedTwice ends what the provider does, too. The state stays what it was, nobody has its lock, and
// another apply does everything.
func TestEngineInterruptedTwice(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	w := newEngineWorld(t, "TOFU_BIN", map[string]string{"main.tf": gated})
	a := w.begin()
	a.interrupt()
	a.signal()
	if out := a.fails(); !strings.Contains(out, "shelf_box.slow: Creating... (failed") {
		t.Errorf("it says %s", out)
	}
	if out := w.engine("state", "list"); strings.Contains(out, "after") {
		t.Errorf("it has recorded %s", out)
	}
	w.write(filepath.Join(w.dir, "gate"), "")
	w.engine("apply", "--auto-approve")
	w.client("init", "-input=false")
	w.client("plan", "-input=false", "-detailed-exitcode")
}

// applying is an apply that runs.
type applying struct {
	t     *testing.T
	cmd   *exec.Cmd
	said  string // the file with what it says
	ended bool
}

// begin starts an apply and waits until the provider does.
func (w *engineWorld) begin() *applying {
	w.t.Helper()
	a := &applying{t: w.t, said: filepath.Join(w.t.TempDir(), "said")}
	said, err := os.Create(a.said)
	if err != nil {
		w.t.Fatal(err)
	}
	defer said.Close()
	a.cmd = exec.Command(os.Getenv("HOLDFAST_BIN"), "engine", "apply", "--auto-approve")
	a.cmd.Dir, a.cmd.Env, a.cmd.Stdout, a.cmd.Stderr = w.dir, w.environ, said, said
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of a terminal goes to all of a group
	if err := a.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if !a.ended {
			_ = syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL)
			_ = a.cmd.Wait()
		}
	})
	err = poll(func() error {
		_, err := os.Stat(filepath.Join(w.dir, "gate.waiting"))
		return err
	})
	if err != nil {
		w.t.Fatalf("the provider isn't asked: %v: %s", err, a.text())
	}
	return a
}

func (a *applying) text() string {
	text, _ := os.ReadFile(a.said)
	return string(text)
}

func (a *applying) signal() {
	a.t.Helper()
	if err := syscall.Kill(-a.cmd.Process.Pid, syscall.SIGINT); err != nil {
		a.t.Fatal(err)
	}
}

// interrupt waits until it is said that the interrupt has come.
func (a *applying) interrupt() {
	a.t.Helper()
	a.signal()
	err := poll(func() error {
		text, err := os.ReadFile(a.said)
		if err == nil && !bytes.Contains(text, []byte("Interrupted: ")) {
			err = os.ErrNotExist
		}
		return err
	})
	if err != nil {
		a.t.Fatalf("it doesn't say that it is interrupted: %s", a.text())
	}
}

// fails waits until it has failed, and returns what it said.
func (a *applying) fails() string {
	a.t.Helper()
	err := a.cmd.Wait()
	a.ended = true
	if err == nil {
		a.t.Fatalf("an apply that was interrupted did everything: %s", a.text())
	}
	return a.text()
}

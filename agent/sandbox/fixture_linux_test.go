package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain is also what becomes a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "enter" {
		if err := Enter(); err != nil {
			os.Exit(1)
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "attempt" {
		attempt(os.Args[2:])
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a server's files and a run's, as an agent lays them out.
type world struct {
	t    *testing.T
	root string
	run  string // the run's own folder

	level Level
}

// secret is what no command may read.
const secret = "the-secret-of-somebody-else"

func newWorld(t *testing.T) world {
	w := world{t: t, root: t.TempDir(), level: Weak}
	w.run = w.path("runs/mine")
	for _, dir := range []string{"data", "runs/mine/tmp", "runs/other", "tools"} {
		must(t, os.MkdirAll(w.path(dir), 0o755))
	}
	for _, file := range []string{"auth.cfg", "master.key", "data/holdfast.db", "runs/other/terraform.tfvars"} {
		must(t, os.WriteFile(w.path(file), []byte(secret), 0o644)) // only the sandbox keeps it
	}
	// What attempts things is this test's program, where a tool would be.
	text, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(w.path("tools/attempt"), text, 0o755))
	return w
}

// worlds are one for each level that can be reached here.
func worlds(t *testing.T, each func(t *testing.T, w world)) {
	for _, level := range []Level{Weak, Namespaces} {
		t.Run(level.String(), func(t *testing.T) {
			w := newWorld(t)
			w.level = level
			if _, err := findBubblewrap(w.policy()); level == Namespaces && err != nil {
				t.Skip(err)
			}
			each(t, w)
		})
	}
}

func (w world) path(name string) string { return filepath.Join(w.root, name) }

func (w world) policy() Policy {
	p := Policy{ReadOnly: []string{w.path("tools")}, ReadWrite: []string{w.run}, MinLevel: w.level, MaxLevel: w.level}
	if w.level == Namespaces {
		p.Bubblewrap = os.Getenv("HOLDFAST_TEST_BWRAP")
	}
	return p
}

// result is what became of an order.
type result struct {
	Answer
	output string
	err    error
}

func (r result) ok() bool { return r.err == nil && r.Error == "" }

// shell runs lines of a shell.
func (w world) shell(p Policy, lines string) result {
	return w.execute(Order{Command: "/bin/sh", Args: []string{"-c", lines}, WorkDir: w.run,
		Env: []string{"PATH=/usr/bin:/bin"}, Policy: p})
}

// attempt runs one of the attempts that this program knows.
func (w world) attempt(p Policy, args ...string) result {
	return w.execute(Order{Command: w.path("tools/attempt"), Args: append([]string{"attempt"}, args...), WorkDir: w.run,
		Policy: p})
}

func (w world) execute(o Order) result {
	w.t.Helper()
	around := Confine(o.Policy, o.Limits, fmt.Sprintf("test-%d", os.Getpid()))
	defer func() { _ = around.Close(); RemoveCgroup(around.Cgroup) }()
	o.Begun = around.Report
	text, err := json.Marshal(o)
	must(w.t, err)
	orders, give, err := os.Pipe()
	must(w.t, err)
	answers, answer, err := os.Pipe()
	must(w.t, err)
	out, say, err := os.Pipe()
	must(w.t, err)
	process, err := around.StartIn(&os.ProcAttr{
		Env: []string{}, Files: []*os.File{nil, say, say, orders, answer}, Sys: &syscall.SysProcAttr{},
	}, "enter")
	must(w.t, err)
	_, _, _ = orders.Close(), answer.Close(), say.Close()
	_, err = give.Write(text)
	must(w.t, err)
	must(w.t, give.Close())
	var r result
	decoder := json.NewDecoder(answers)
	for {
		var a Answer
		if err := decoder.Decode(&a); err == io.EOF {
			break
		} else if err != nil {
			w.t.Fatal(err)
		}
		r.Answer = a
	}
	_ = answers.Close()
	said, err := io.ReadAll(out)
	must(w.t, err)
	state, err := process.Child.Wait()
	must(w.t, err)
	if r.output = string(said); !state.Success() {
		r.err = fmt.Errorf("it ended with %v", state)
	}
	return r
}

// attempt does one thing that a command might try, and says how it went.
func attempt(args []string) {
	err := try(args[0], args[1:])
	fmt.Println(args[0], err)
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func refused(t *testing.T, what string, r result) {
	t.Helper()
	if r.ok() || strings.Contains(r.output, secret) || r.Error != "" {
		t.Errorf("%s: %v, %s, it says %q", what, r.err, r.Error, r.output)
	}
}

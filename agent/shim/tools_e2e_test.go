//go:build e2e && linux

package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/internal/suite"
)

// tools are the real ones, as scripts/e2e.sh names them.
func tools(t *testing.T, each func(t *testing.T, binary string)) {
	for _, variable := range []string{"TOFU_BIN", "TERRAFORM_BIN"} {
		binary := os.Getenv(variable)
		if binary == "" {
			t.Fatalf("%s names no binary: scripts/e2e.sh does", variable)
		}
		t.Run(filepath.Base(binary), func(t *testing.T) { each(t, binary) })
	}
}

// phases run one command after the other in one folder.
type phases struct {
	t            *testing.T
	binary, root string
}

func newPhases(t *testing.T, binary, configuration string) phases {
	f := phases{t: t, binary: binary, root: t.TempDir()}
	must(t, os.MkdirAll(f.work("tmp"), 0o700))
	must(t, os.WriteFile(f.work("main.tf"), []byte(configuration), 0o600))
	must(t, os.WriteFile(f.work("cli.tfrc"), nil, 0o600))
	return f
}

func (f phases) work(name string) string { return filepath.Join(f.root, "work", name) }

func (f phases) start(name string, args ...string) *Process {
	f.t.Helper()
	return start(f.t, Spec{
		Dir: filepath.Join(f.root, name), Command: f.binary, Args: args, WorkDir: f.work(""),
		Env: []string{
			"PATH=/usr/bin:/bin", "HOME=" + f.work("tmp"), "TMPDIR=" + f.work("tmp"), "TF_IN_AUTOMATION=1", "TF_INPUT=0",
			"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=" + f.work("cli.tfrc"),
		},
		Sandbox: sandbox.Policy{
			ReadOnly: []string{filepath.Dir(f.binary)}, ReadWrite: []string{f.work("")}, MinLevel: sandbox.Weak,
			Bubblewrap: os.Getenv("HOLDFAST_TEST_BWRAP"),
		},
	})
}

func (f phases) run(name string, args ...string) string {
	f.t.Helper()
	p := f.start(name, args...)
	exit := wait(f.t, p)
	log := output(f.t, p, Log)
	if exit.Code != 0 {
		f.t.Fatalf("%s ended with %+v:\n%s", name, exit, log)
	}
	return log
}

func TestToolsApplyInTheSandbox(t *testing.T) {
	suite.Deep(t)
	tools(t, func(t *testing.T, binary string) {
		outside := filepath.Join(t.TempDir(), "auth.cfg")
		must(t, os.WriteFile(outside, []byte("a secret"), 0o600))
		f := newPhases(t, binary, `
			resource "terraform_data" "one" {
				provisioner "local-exec" {
					command = "cat `+outside+` || echo refused; echo made >made"
				}
			}
			output "id" { value = terraform_data.one.id }
		`)
		f.run("init", "init", "-no-color")
		f.run("plan", "plan", "-no-color", "-out=tfplan")
		log := f.run("apply", "apply", "-no-color", "tfplan")
		if strings.Contains(log, "a secret") || !strings.Contains(log, "refused") || !strings.Contains(log, "1 added") {
			t.Errorf("the apply says:\n%s", log)
		}
		if _, err := os.Stat(f.work("made")); err != nil {
			t.Error(err)
		}
	})
}

// One SIGINT is what the tools call graceful: they end what a provisioner runs in their own
// way, and the state has what was begun.
func TestToolsAreInterruptedGracefully(t *testing.T) {
	suite.Deep(t)
	tools(t, func(t *testing.T, binary string) {
		f := newPhases(t, binary, `
			resource "terraform_data" "one" {
				provisioner "local-exec" {
					command = "trap 'touch signalled' INT; echo begun; while :; do sleep 0.01; done"
				}
			}
			resource "terraform_data" "two" {
				depends_on = [terraform_data.one]
			}
		`)
		f.run("init", "init", "-no-color")
		p := f.start("apply", "apply", "-no-color", "-auto-approve")
		untilSaid(t, p, "begun")
		for range 3 {
			must(t, p.Interrupt(t.Context()))
		}
		untilSaid(t, p, "nterrupt received")
		exit := wait(t, p)
		log := output(t, p, Log)
		if exit.Code != 1 || strings.Contains(log, "Two interrupts") {
			t.Errorf("it ended with %+v:\n%s", exit, log)
		}
		if _, err := os.Stat(f.work("signalled")); err == nil {
			t.Error("what the provisioner ran was signalled")
		}
		state, err := os.ReadFile(f.work("terraform.tfstate"))
		if err != nil || !strings.Contains(string(state), `"status": "tainted"`) {
			t.Errorf("the state is %s, %v", state, err)
		}
	})
}

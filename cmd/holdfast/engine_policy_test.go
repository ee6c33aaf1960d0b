package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A policy in Rego looks at the plans of all commands that plan, also at what is planned to be there: with a grave
// finding nothing is applied, with a small one it is.
func TestEnginesPoliciesAreFollowed(t *testing.T) {
	s := newShell(t)
	dir, policies := t.TempDir(), t.TempDir()
	writeConfiguration(t, dir, map[string]string{"main.tf": `
variable "size" { type = number }
resource "terraform_data" "box" { input = var.size }
`})
	writeConfiguration(t, policies, map[string]string{"size.rego": `package main
deny contains msg if {
  some r in input.planned_values.root_module.resources
  r.values.input > 2
  msg := sprintf("%s is too large", [r.address])
}
warn contains "it grows" if { input.variables.size.value > 1 }
`})
	state := filepath.Join(dir, "terraform.tfstate")
	line := func(command, size string, more ...string) []string {
		return append([]string{"engine", command, "--dir", dir, "--state", state, "--policy", policies,
			"--var", "size=" + size}, more...)
	}
	for _, args := range [][]string{line("plan", "3"), line("apply", "3", "--auto-approve")} {
		code, out, errs := s.run(args...)
		if code != exitFailed || !strings.Contains(errs, "1 grave faults") || strings.Contains(out, "complete") {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("a plan that policies forbid has left a state: %v", err)
	}
	code, out, errs := s.run(line("apply", "2", "--auto-approve")...)
	if code != exitOK || !strings.Contains(errs, "low: ") || !strings.Contains(out, "1 added, 0 changed, 0 destroyed") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if out := s.must(line("plan", "2", "--detailed-exitcode")...); !strings.Contains(out, "No changes") {
		t.Error(out)
	}

	writeConfiguration(t, policies, map[string]string{"broken.rego": "package main\ndeny contains"})
	if code, out, errs := s.run(line("apply", "1", "--auto-approve")...); code == exitOK {
		t.Errorf("a policy that can't be read is passed over: %s%s", out, errs)
	}
	if out := s.must("engine", "output", "--dir", dir, "--state", state); out != "" {
		t.Errorf("outputs %q", out)
	}
}

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scriptTool is a tool that does what the tests want of it. Its parts are shell; $LOG counts
// what it was called for, outside of the run folder.
type scriptTool struct{ init, plan, show, apply, output string }

// make writes the program, and returns it with the file that counts its calls.
func (s scriptTool) make(t *testing.T) (tool oneTool, calls string) {
	t.Helper()
	folder := t.TempDir()
	calls = filepath.Join(folder, "calls")
	text := fmt.Sprintf(`#!/bin/sh
echo "$1" >> %q
case $1 in
init)
  %s
  echo initialized ;;
plan)
  for a; do case $a in -out=*) out=${a#-out=};; esac; done
  %s
  echo planned > "$out"
  exit 2 ;;
show)
  %s
  echo '{"format_version":"1.0"}' ;;
apply)
  %s
  ;;
output)
  %s
  ;;
esac
`, calls, or(s.init, ":"), or(s.plan, ":"), or(s.show, ":"), or(s.apply, ":"), or(s.output, "echo '{}'"))
	path := filepath.Join(folder, "tool")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return oneTool{"opentofu", "1.12.6", path, "0123"}, calls
}

func or(text, usual string) string {
	if text == "" {
		return usual
	}
	return text
}

// callsOf is what a tool was called for, in order.
func callsOf(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(raw))
}

// scripted is a rig with such a tool, and the file that counts its calls.
func scripted(t *testing.T, tool scriptTool) (r *rig, calls string) {
	t.Helper()
	made, calls := tool.make(t)
	return newRig(t, made, map[string]string{"main.tf": ""}), calls
}

// await waits for a text in a stage's log.
func (r *rig) logged(run, stage, text string) {
	r.t.Helper()
	r.await(run, "the log has "+text, func() bool { return strings.Contains(r.server.Log(run, stage), text) })
}

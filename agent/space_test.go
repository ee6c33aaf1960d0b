package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// A run that fills the disk is ended, whether its command goes on or has ended by then, and says why.
func TestRunThatFillsTheDiskIsEnded(t *testing.T) {
	for name, tool := range map[string]scriptTool{
		"and goes on":            {plan: "head -c 3000000 /dev/zero > large; " + obedient},
		"and doesn't listen":     {plan: "head -c 3000000 /dev/zero > large; " + stubborn},
		"and is done":            {plan: "head -c 3000000 /dev/zero > large"},
		"with empty files":       {plan: "i=0; while [ $i -lt 400 ]; do : > empty$i; i=$((i+1)); done"},
		"with temporary files":   {plan: `head -c 3000000 /dev/zero > "$TMPDIR/large"`},
		"with what it downloads": {init: `mkdir -p "$TF_DATA_DIR/x"; head -c 3000000 /dev/zero > "$TF_DATA_DIR/x/large"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := scripted(t, tool)
			r.settings.MaxFolderBytes, r.server.Template.Grace = 1<<20, 1
			r.start()
			last := r.ended(r.server.Queue("prod/network", "apply"), "plan")
			if last.Outcome != "failed" || last.Class != "config" ||
				!strings.Contains(last.Message, "more than the 1048576 bytes") {
				t.Errorf("the run ends with %+v", last)
			}
			r.cleared()
		})
	}
}

// A run that uses more of the processors than it may is ended, and is not tried again; it says what to do.
func TestRunThatBurnsTheProcessorIsEnded(t *testing.T) {
	for name, tool := range map[string]scriptTool{
		"and listens":       {plan: "while :; do :; done"},
		"in its init":       {init: "while :; do :; done"},
		"in a child of its": {plan: "sh -c 'while :; do :; done' & wait"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := scripted(t, tool)
			r.server.Template.Grace = 1
			r.withLimits(sandbox.Limits{CPU: 200 * time.Millisecond})
			r.start()
			last := r.ended(r.server.Queue("prod/network", "apply"), "plan")
			if last.Outcome != "failed" || last.Class != "config" || !strings.Contains(last.Message, "max_cpu_time") ||
				!strings.Contains(last.Message, "more than the 200ms of CPU time") {
				t.Errorf("the run ends with %+v", last)
			}
			r.cleared()
		})
	}
}

// An apply is interrupted, and has its grace to write what it has made.
func TestApplyThatBurnsTheProcessorEndsInOrder(t *testing.T) {
	r, _ := scripted(t, scriptTool{apply: "trap 'echo written; exit 1' INT; while :; do :; done"})
	r.withLimits(sandbox.Limits{CPU: 200 * time.Millisecond})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
		t.Fatalf("the plan ends with %+v", last)
	}
	r.server.Approve(run)
	last := r.ended(run, "apply")
	if !strings.Contains(last.Message, "CPU time") || !strings.Contains(r.server.Log(run, "apply"), "written") {
		t.Errorf("the run ends with %+v:\n%s", last, r.server.Log(run, "apply"))
	}
}

// An apply that made large files has done its work.
func TestApplyThatIsDoneMayHaveFilledItsFolder(t *testing.T) {
	r, calls := scripted(t, scriptTool{apply: "head -c 3000000 /dev/zero > large"})
	r.settings.MaxFolderBytes = 1 << 20
	r.planThenApply(calls, func() {})
}

// A file with holes takes what it takes, and what links lead to is not the run's.
func TestOnlyWhatTheRunTakesIsCounted(t *testing.T) {
	r, calls := scripted(t, scriptTool{plan: "truncate -s 1G \"$HOME/holes\"; ln -s /usr \"$HOME/usr\""})
	r.settings.MaxFolderBytes = 1 << 20
	r.planThenApply(calls, func() {})
}

// What no server took is kept, but neither for ever nor without end, and states longer than logs.
func TestKeptFilesAreBounded(t *testing.T) {
	r, _ := scripted(t, scriptTool{})
	kept := filepath.Join(r.settings.Work, "kept")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, days := range map[string]int{"a-1-errored.tfstate": 31, "b-1-errored.tfstate": 29, "c-plan-1.log": 31,
		"d-plan-1.log": 1} {
		touch(t, filepath.Join(kept, name))
		at := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(filepath.Join(kept, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	r.start()
	r.ended(r.server.Queue("prod/network", "plan"), "plan")
	left, _ := filepath.Glob(filepath.Join(kept, "*"))
	if len(left) != 2 || filepath.Base(left[0]) != "b-1-errored.tfstate" || filepath.Base(left[1]) != "d-plan-1.log" {
		t.Errorf("there is left %v", left)
	}
}

package shim

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// offspring are processes of every kind that try to stay: one that ignores SIGINT, one in the
// background, one that forked twice and left the session, and one that does it all.
const offspring = `
trap '' INT
sleep 1000 & echo $!
(sleep 1000 & echo $!)
setsid sh -c 'echo $$; exec sleep 1000' &
(setsid sh -c 'trap "" INT TERM HUP; (sleep 1000 & echo $!; sleep 1000) & echo $$; sleep 1000' &)
`

// whole waits until the script has said this many numbers, and returns them.
func pids(t *testing.T, p *Process, n int) []int {
	t.Helper()
	until(t, "all have said who they are", func() bool {
		log, _ := os.ReadFile(p.folder.path(string(Log)))
		return strings.Count(string(log), "\n") >= n
	})
	log, err := os.ReadFile(p.folder.path(string(Log)))
	must(t, err)
	var all []int
	for line := range strings.FieldsSeq(string(log)) {
		number, err := strconv.Atoi(line)
		must(t, err)
		all = append(all, number)
	}
	return all
}

func noneLives(t *testing.T, all []int) {
	t.Helper()
	for _, pid := range all {
		if stat, err := readStat(pid); err == nil && !stat.dead {
			t.Errorf("process %d of %v is left: %+v", pid, all, stat)
		}
	}
}

func TestKillLeavesNobody(t *testing.T) {
	spec := outside(script(t, offspring+`while :; do sleep 0.05; done`))
	spec.Grace = 50 * time.Millisecond
	p := start(t, spec)
	all := pids(t, p, 5)
	must(t, p.Kill(t.Context()))
	exit := wait(t, p)
	if exit.Signal != "killed" || !exit.Killed || exit.Interrupted || exit.OutOfMemory || exit.Code != -1 {
		t.Errorf("the exit is %+v", exit)
	}
	noneLives(t, all)
}

// The starter dies right after it asked.
func TestKillGoesOnWithoutItsCaller(t *testing.T) {
	spec := outside(script(t, offspring+`while :; do sleep 0.05; done`))
	spec.Grace = 50 * time.Millisecond
	p := start(t, spec)
	all := pids(t, p, 5)
	must(t, os.Rename(p.folder.path("kill.unset"), p.folder.path("kill.asked"))) // and no nudge
	wait(t, p)
	noneLives(t, all)
}

func TestKillOfACommandWithoutShim(t *testing.T) {
	spec := outside(script(t, offspring+`while :; do sleep 0.05; done`))
	spec.Grace = 50 * time.Millisecond
	p := start(t, spec)
	all := pids(t, p, 5)
	killShim(t, p)
	must(t, p.Kill(t.Context()))
	exit := wait(t, p)
	if !exit.Killed || !exit.Unknown {
		t.Errorf("the exit is %+v", exit)
	}
	noneLives(t, all)
}

func TestCommandLeavesNobodyBehind(t *testing.T) {
	p := start(t, outside(script(t, offspring+`exit 0`)))
	exit := wait(t, p)
	if exit.Code != 0 || exit.Left < 4 {
		t.Errorf("the exit is %+v", exit)
	}
	var all []int
	for line := range strings.FieldsSeq(output(t, p, Log)) {
		number, err := strconv.Atoi(line)
		must(t, err)
		all = append(all, number)
	}
	noneLives(t, all)
}

// A command that minds SIGINT is left its grace, and ends by itself.
func TestKillBeginsWithAnInterrupt(t *testing.T) {
	spec := script(t, `n=0; trap 'n=$((n+1)); echo SIGINT $n; [ $n = 2 ] && exit 9' INT; echo ready; while :; do sleep 0.01; done`)
	spec.Grace = time.Hour
	p := start(t, spec)
	untilSaid(t, p, "ready")
	must(t, p.Interrupt(t.Context()))
	untilSaid(t, p, "SIGINT 1")
	must(t, p.Kill(t.Context()))
	exit := wait(t, p)
	if exit.Code != 9 || !exit.Interrupted || !exit.Killed {
		t.Errorf("the exit is %+v", exit)
	}
}

// Nothing gets out of namespaces: with the command all ends that it started.
func TestKillInNamespaces(t *testing.T) {
	spec := script(t, `trap '' INT; (setsid sh -c 'echo begun; while :; do sleep 0.01; touch alive; done' &); while :; do sleep 0.05; done`)
	spec.Grace, spec.Sandbox.MinLevel = 50*time.Millisecond, sandbox.Namespaces
	p := start(t, spec)
	if status, err := p.Status(); err == nil && status.Exit != nil && status.Exit.TooWeak {
		t.Skip(status.Exit.Failed)
	}
	untilSaid(t, p, "begun")
	must(t, p.Kill(t.Context()))
	exit := wait(t, p)
	if exit.Signal != "killed" || exit.Code != -1 || exit.Sandbox.Level != sandbox.Namespaces {
		t.Errorf("the exit is %+v", exit)
	}
	alive := spec.WorkDir + "/alive"
	_ = os.Remove(alive)
	if _, err := os.Stat(alive); err == nil {
		t.Error("something of it goes on")
	}
}

package shim

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A command that uses more of the processors than it may is ended, whoever of its processes uses it, and also where its
// shim was killed meanwhile.
func TestCPUTimeIsBounded(t *testing.T) {
	const burn = "while :; do :; done"
	for name, lines := range map[string]string{
		"itself":               burn,
		"and ignores SIGINT":   "trap '' INT; " + burn,
		"its child":            "sh -c '" + burn + "' & wait",
		"who left its session": "setsid sh -c '" + burn + "' & wait",
		"one after the other":  "while :; do /bin/sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := script(t, lines)
			spec.Limits.CPU, spec.Patience, spec.Grace = 300*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
			exit := wait(t, start(t, spec))
			if !strings.Contains(exit.Exceeded, "300ms of CPU time") || !strings.Contains(exit.Exceeded, "max_cpu_time") ||
				!exit.Interrupted || exit.Code == 0 {
				t.Errorf("the exit is %+v", exit)
			}
		})
	}
}

// A cgroup counts also what processes have used that nobody waits for, whether or not it counts processes.
func TestCPUTimeOfUnawaitedProcesses(t *testing.T) {
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("there is no perl")
	}
	spec := script(t, `echo begun; exec `+perl+` -e '$SIG{CHLD} = "IGNORE"; while (1) {
if (!fork) { for ($i = 0; $i < 1000000; $i++) {} exit } select(undef, undef, undef, 0.05) }'`)
	spec.Limits.CPU, spec.Patience, spec.Grace = time.Second, 50*time.Millisecond, 50*time.Millisecond
	p := start(t, spec)
	untilSaid(t, p, "begun")
	k := keeper{}
	must(t, p.folder.read(commandFile, &k.begun))
	if _, counts := k.begun.groupCPU(); !counts {
		must(t, p.Kill(t.Context()))
		wait(t, p)
		t.Skip("no cgroup can be made here")
	}
	if exit := wait(t, p); !strings.Contains(exit.Exceeded, "CPU time") {
		t.Errorf("the exit is %+v", exit)
	}
}

func TestCPUTimeIsBoundedWithoutItsFirstShim(t *testing.T) {
	spec := outside(script(t, "echo begun; while :; do :; done"))
	spec.Limits.CPU, spec.Patience, spec.Grace = time.Second, 50*time.Millisecond, 50*time.Millisecond
	p := start(t, spec)
	untilSaid(t, p, "begun")
	killShim(t, p)
	if exit := wait(t, p); !strings.Contains(exit.Exceeded, "CPU time") {
		t.Errorf("the exit is %+v", exit)
	}
}

// What waits uses nothing, however long it takes.
func TestCommandThatWaitsUsesNoCPUTime(t *testing.T) {
	spec := outside(script(t, "sleep 1000 & sleep 1000"))
	spec.Grace = 50 * time.Millisecond
	p := start(t, spec)
	k := keeper{}
	until(t, "the command has both", func() bool {
		must(t, p.folder.read(commandFile, &k.begun))
		return len(k.begun.family(0)) >= 3
	})
	var used time.Duration
	for _, one := range k.begun.members(processes(), 0, k.begun.marks) {
		used += one.cpu
	}
	if used > 5*time.Second || used < 0 {
		t.Errorf("it is said to have used %s", used)
	}
}

// bomb is a process that starts two, of which each does so too, up to a thousand: ended too late, it ends by itself.
const bomb = `printf '%s\n' '#!/bin/sh' 'test $1 -gt 9 && exec sleep 1000' '"$0" $(($1+1)) & "$0" $(($1+1)) & wait' > bomb
chmod 700 bomb; ./bomb 1 & wait`

// A command that starts more processes than it may is ended, and none of them stays.
func TestProcessesAreCounted(t *testing.T) {
	for name, lines := range map[string]string{
		"and waits": `i=0; while [ $i -lt 150 ]; do sleep 1000 & i=$((i+1)); done; wait`,
		"in the background": `i=0; while [ $i -lt 150 ]; do setsid sh -c 'sleep 1000 & sleep 1000' & i=$((i+1)); done; ` +
			`trap '' INT; while :; do sleep 0.05; done`,
		"without end": bomb,
	} {
		t.Run(name, func(t *testing.T) {
			spec := outside(script(t, lines))
			spec.Limits.Processes, spec.Patience, spec.Grace = 100, 50*time.Millisecond, 50*time.Millisecond
			p := start(t, spec)
			exit := wait(t, p)
			if !strings.Contains(exit.Exceeded, "more than the 100 processes") || !exit.Interrupted {
				t.Errorf("the exit is %+v", exit)
			}
			var command begun
			must(t, p.folder.read(commandFile, &command))
			if left := command.family(0); len(left) > 0 {
				t.Errorf("%d processes are left", len(left))
			}
			if _, err := os.Stat(p.folder.path(exitFile)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Those of another command are not its own.
func TestProcessesOfOthersAreNotCounted(t *testing.T) {
	many := outside(script(t, `i=0; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); done; echo all; wait`))
	many.Limits.Processes, many.Grace = 100, 50*time.Millisecond
	other := start(t, many)
	untilSaid(t, other, "all")
	one := outside(script(t, `sleep 1000 & echo begun; wait`))
	one.Grace = 50 * time.Millisecond
	p := start(t, one)
	untilSaid(t, p, "begun")
	k := keeper{}
	must(t, p.folder.read(commandFile, &k.begun))
	if mine := k.begun.members(processes(), 0, k.begun.marks); len(mine) > 2 {
		t.Errorf("it has %d processes", len(mine))
	}
}

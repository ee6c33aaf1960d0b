package shim

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestCommandRunsAndItsExitIsKnown(t *testing.T) {
	p := start(t, script(t, `echo out; echo err >&2; echo "$0 $HOME $PATH"; exit 3`))
	exit := wait(t, p)
	if exit.Code != 3 || exit.Signal != "" || exit.Failed != "" {
		t.Errorf("the exit is %+v", exit)
	}
	if got := output(t, p, Log); got != "out\nerr\n/bin/sh  /usr/bin:/bin\n" {
		t.Errorf("the log is %q", got)
	}
	t.Logf("%+v", exit)
}

func TestStdoutApart(t *testing.T) {
	spec := script(t, `echo out; echo err >&2`)
	spec.Apart = true
	p := start(t, spec)
	wait(t, p)
	if out, log := output(t, p, Stdout), output(t, p, Log); out != "out\n" || log != "err\n" {
		t.Errorf("stdout is %q, the log %q", out, log)
	}
}

func TestOneStartForAFolder(t *testing.T) {
	spec := script(t, `exit 0`)
	start(t, spec)
	if _, err := Start(t.Context(), spec); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second start: %v", err)
	}
	if _, err := Find(spec.Dir + "-other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that isn't there: %v", err)
	}
}

func TestCommandThatCantBeStarted(t *testing.T) {
	spec := script(t, ``)
	spec.Command = "/no/such/tool"
	exit := wait(t, start(t, spec))
	if exit.Code != -1 || exit.Failed == "" {
		t.Errorf("the exit is %+v", exit)
	}
	t.Log(exit.Failed)
}

func TestInterruptOnce(t *testing.T) {
	p := start(t, script(t, `trap 'echo SIGINT' INT; echo ready; while [ ! -e stop ]; do sleep 0.01; done`))
	untilSaid(t, p, "ready")
	for range 3 {
		must(t, p.Interrupt(t.Context()))
		again, err := Find(p.Dir())
		must(t, err)
		must(t, again.Interrupt(t.Context()))
	}
	untilSaid(t, p, "SIGINT")
	must(t, os.WriteFile(p.Dir()+"/../work/stop", nil, 0o600))
	exit := wait(t, p)
	if got := output(t, p, Log); got != "ready\nSIGINT\n" || !exit.Interrupted || exit.Killed {
		t.Errorf("the log is %q, the exit %+v", got, exit)
	}
}

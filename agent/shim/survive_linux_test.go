package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// starterCommand makes the test's program start the spec that comes on stdin, say so, and
// stay until it is killed.
const starterCommand = "be-starter"

func beStarter() error {
	var spec Spec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return err
	}
	if _, err := Start(context.Background(), spec); err != nil {
		return err
	}
	fmt.Println("started")
	select {}
}

// starter is a process that starts a command, as a server does.
func starter(t *testing.T, spec Spec) (cmd *exec.Cmd, started <-chan struct{}) {
	t.Helper()
	text, err := json.Marshal(spec)
	must(t, err)
	cmd = exec.Command(os.Args[0], starterCommand)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = out.Read(make([]byte, 16))
	}()
	return cmd, said
}

func TestStarterIsKilledAndTheCommandGoesOn(t *testing.T) {
	spec := script(t, `for i in 1 2 3; do echo $i; done; while [ ! -e go ]; do sleep 0.01; done; for i in 4 5 6; do echo $i; done; exit 7`)
	cmd, started := starter(t, spec)
	<-started
	// All of its process group, as a terminal's end would.
	must(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	_ = cmd.Wait()
	p, err := Find(spec.Dir)
	must(t, err)
	t.Cleanup(func() { cleanUp(t, p) })
	if status, err := p.Status(); err != nil || status.Condition != Running {
		t.Fatalf("found: %+v, %v", status, err)
	}
	must(t, os.WriteFile(filepath.Join(spec.WorkDir, "go"), nil, 0o600))
	if exit := wait(t, p); exit.Code != 7 {
		t.Errorf("the exit is %+v", exit)
	}
	if got := output(t, p, Log); got != "1\n2\n3\n4\n5\n6\n" {
		t.Errorf("the log is %q", got)
	}
}

// A starter is killed at any moment, from before there is a folder on. Whatever is found then,
// the command ran whole or not at all.
func TestStarterIsKilledAtAnyMoment(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	ran := 0
	for i := range 50 {
		spec := script(t, `echo begun >>begun; seq 1 2000; exit 7`)
		cmd, started := starter(t, spec)
		select {
		case <-started:
		case <-time.After(time.Duration(random.IntN(60)) * time.Millisecond):
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if checkWhole(t, spec) {
			ran++
		}
		if t.Failed() {
			t.Fatalf("kill %d with seed %d", i, seed)
		}
	}
	t.Logf("%d of 50 commands ran", ran)
}

func checkWhole(t *testing.T, spec Spec) (ran bool) {
	t.Helper()
	p, err := Find(spec.Dir)
	if err == nil {
		var status Status
		status, err = p.Wait(t.Context())
		if status.Condition == Ended {
			if status.Exit.Code != 7 {
				t.Errorf("the exit is %+v", status.Exit)
			}
			if got := strings.Count(output(t, p, Log), "\n"); got != 2000 {
				t.Errorf("the log has %d lines", got)
			}
			return true
		}
		if status.Condition != NeverBegan {
			t.Errorf("the command is %s (%s): %v", status.Condition, status.Proof, err)
		}
	}
	if _, err := os.Stat(filepath.Join(spec.WorkDir, "begun")); err == nil {
		t.Error("a command ran that isn't known")
	}
	return false
}

// killShim kills the shim alone.
func killShim(t *testing.T, p *Process) {
	t.Helper()
	identity, err := p.Identity()
	must(t, err)
	shim, err := identity.Shim.open()
	must(t, err)
	defer shim.close()
	must(t, shim.signal(syscall.SIGKILL))
	must(t, shim.wait(t.Context()))
	until(t, "its lock is free", func() bool {
		status, err := p.Status()
		must(t, err)
		return status.Condition != Running
	})
}

func TestShimIsKilledAndTheCommandIsAdopted(t *testing.T) {
	p := start(t, script(t, `trap 'echo SIGINT' INT; echo begun; while [ ! -e go ]; do sleep 0.01; done; echo alone; while [ ! -e stop ]; do sleep 0.01; done; echo end`))
	work := filepath.Join(filepath.Dir(p.Dir()), "work")
	untilSaid(t, p, "begun")
	killShim(t, p)
	status, err := p.Status()
	must(t, err)
	if status.Condition != Orphaned {
		t.Fatalf("the command is %s: %s", status.Condition, status.Proof)
	}
	must(t, os.WriteFile(filepath.Join(work, "go"), nil, 0o600))
	for range 2 { // the second finds a shim
		must(t, p.Interrupt(t.Context()))
	}
	untilSaid(t, p, "SIGINT")
	must(t, os.WriteFile(filepath.Join(work, "stop"), nil, 0o600))
	exit := wait(t, p)
	if !exit.Unknown || exit.Code != -1 || !exit.Interrupted || exit.Sandbox.Level == 0 {
		t.Errorf("the exit is %+v", exit)
	}
	if got := output(t, p, Log); got != "begun\nalone\nSIGINT\nend\n" && got != "begun\nSIGINT\nalone\nend\n" {
		t.Errorf("the log is %q", got)
	}
}

func TestBothAreKilled(t *testing.T) {
	p := start(t, script(t, `echo begun; exec sleep 1000`))
	untilSaid(t, p, "begun")
	identity, err := p.Identity()
	must(t, err)
	killShim(t, p)
	command, err := identity.Command.open()
	must(t, err)
	must(t, command.signal(syscall.SIGKILL))
	must(t, command.wait(t.Context()))
	command.close()
	until(t, "it has vanished", func() bool {
		status, err := p.Status()
		must(t, err)
		return status.Condition == Vanished
	})
	if got := output(t, p, Log); got != "begun\n" {
		t.Errorf("the log is %q", got)
	}
}

// The command is gone and its shim too, and something it started is not.
func TestOffspringOutlivesBoth(t *testing.T) {
	p := start(t, outside(script(t, offspring+"exec sleep 1000")))
	all := pids(t, p, 5)
	killShim(t, p)
	identity, err := p.Identity()
	must(t, err)
	must(t, syscall.Kill(identity.Command.Number, syscall.SIGKILL))
	until(t, "the command is gone", func() bool {
		lives, err := identity.Command.lives()
		must(t, err)
		return !lives
	})
	if status, err := p.Status(); err != nil || status.Condition != Orphaned {
		t.Fatalf("the command is %+v, %v", status, err)
	}
	if exit := wait(t, p); !exit.Unknown || exit.Left < 4 {
		t.Errorf("the exit is %+v", exit)
	}
	noneLives(t, all)
}

// The number of a command that is gone is another process's by now.
func TestStrangerIsLeftAlone(t *testing.T) {
	p := start(t, script(t, `echo begun; exec sleep 1000`))
	untilSaid(t, p, "begun")
	identity, err := p.Identity()
	must(t, err)
	killShim(t, p)
	must(t, syscall.Kill(identity.Command.Number, syscall.SIGKILL))
	var command begun
	must(t, p.folder.read(commandFile, &command))
	// Until then the command is there under its own number, or the kernel still ends what was beside it.
	until(t, "the command is gone, and what was in its session", func() bool { return len(command.family(0)) == 0 })
	stranger := startLater(t, identity.Command)
	command.Command.Number = stranger.Process.Pid
	must(t, p.folder.write(commandFile, command))
	if status, err := p.Status(); err != nil || status.Condition != Vanished {
		t.Errorf("the command is %+v, %v", status, err)
	}
	must(t, p.Interrupt(t.Context()))
	must(t, p.Kill(t.Context()))
	must(t, p.Adopt(t.Context()))
	k := keeper{begun: command}
	k.signalLeader(syscall.SIGKILL)
	if found := command.family(0); len(found) > 0 {
		t.Errorf("the command's are %v", found)
	}
	if alive, err := pidOf(stranger.Process.Pid); err != nil || alive.Number == 0 {
		t.Errorf("the stranger: %v", err)
	}
	if stat, err := readStat(stranger.Process.Pid); err != nil || stat.dead {
		t.Errorf("the stranger is dead: %+v, %v", stat, err)
	}
}

// startLater starts a process in another tick of the kernel's clock than a command's: within one
// tick, a number is not used twice.
func startLater(t *testing.T, command PID) *exec.Cmd {
	t.Helper()
	for {
		stranger := exec.Command("sleep", "1000")
		must(t, stranger.Start())
		t.Cleanup(func() { _, _ = stranger.Process.Kill(), stranger.Wait() })
		started, err := pidOf(stranger.Process.Pid)
		must(t, err)
		if started.StartTime != command.StartTime {
			return stranger
		}
	}
}

func TestMachineWasStartedAnew(t *testing.T) {
	p := start(t, script(t, `exit 0`))
	wait(t, p)
	until(t, "the shim, which lives a moment longer than its command's end is known, has ended", func() bool {
		lock, err := p.folder.lock(unix.LOCK_SH)
		if err == nil {
			must(t, lock.Close())
		}
		return err == nil
	})
	must(t, os.Remove(p.folder.path(exitFile)))
	var command begun
	must(t, p.folder.read(commandFile, &command))
	command.BootID = "another"
	us, err := pidOf(os.Getpid()) // whatever has the number
	must(t, err)
	command.Command = us
	must(t, p.folder.write(commandFile, command))
	status, err := p.Status()
	must(t, err)
	if status.Condition != Vanished || !strings.Contains(status.Proof, "machine") {
		t.Errorf("the command is %+v", status)
	}
}

// Nothing that ends a session, or asks nicely, ends a shim.
func TestShimIgnoresSignals(t *testing.T) {
	p := start(t, script(t, `echo begun; while [ ! -e stop ]; do sleep 0.01; done; exit 5`))
	untilSaid(t, p, "begun")
	identity, err := p.Identity()
	must(t, err)
	for _, s := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGPIPE} {
		must(t, syscall.Kill(identity.Shim.Number, s))
	}
	must(t, os.WriteFile(filepath.Join(p.Dir(), "../work/stop"), nil, 0o600))
	if exit := wait(t, p); exit.Code != 5 {
		t.Errorf("the exit is %+v", exit)
	}
}

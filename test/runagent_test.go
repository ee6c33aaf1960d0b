//go:build e2e

package test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
)

// shortLease has tests see executors lost soon. It is not the shortest: on a busy machine an executor that
// is well may be silent for seconds, and no test can tell that one from a lost one.
const shortLease = "HOLDFAST_RUNS_LEASE=15s"

// agentProcess is a `holdfast agent`.
type agentProcess struct {
	bench   *runBench
	work    string
	process *process
}

// pool makes a pool and a folder for agents of it, and returns a workspace's setting.
func (b *runBench) pool() func(*api.WorkspaceChange) {
	b.Helper()
	pool, err := b.client.CreatePool(b.Context(), "far", nil)
	b.must(err)
	b.must(os.WriteFile(b.tokenFile(), []byte(pool.Token+"\n"), 0o600))
	return func(w *api.WorkspaceChange) { w.Pool = &pool.Name }
}

func (b *runBench) tokenFile() string { return filepath.Join(b.dir, "pool.token") }

// agent starts one with this folder, which one before it may have had.
func (b *runBench) agent(name string) *agentProcess {
	b.Helper()
	return b.agentOf(name, b.server.url)
}

// agentOf starts one that finds the server at an address.
func (b *runBench) agentOf(name, address string) *agentProcess {
	b.Helper()
	a := &agentProcess{bench: b, work: filepath.Join(b.dir, name)}
	log, err := os.OpenFile(a.work+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	b.must(err)
	defer log.Close()
	environ := []string{"PATH=" + filepath.Dir(program(b.T, "TOFU_BIN")) + ":" + os.Getenv("PATH"), "HOME=" + b.dir}
	a.process, err = startProcess(b.dir, environ, log, program(b.T, "HOLDFAST_BIN"),
		"agent", "--server", address, "--pool-token-file", b.tokenFile(), "--work", a.work, "--min-sandbox", "none",
		"--slots", "2")
	b.must(err)
	b.agents = append(b.agents, a)
	b.Cleanup(func() {
		a.kill()
		if text, err := os.ReadFile(log.Name()); err == nil && b.Failed() {
			b.Logf("agent %s:\n%s", name, text)
		}
	})
	return a
}

func (a *agentProcess) kill() { _ = a.process.end(syscall.SIGKILL) }

// tell sends a signal to the agent alone, tellCommands to all that it has started.
func (a *agentProcess) tell(signal syscall.Signal) {
	a.bench.must(a.process.cmd.Process.Signal(signal))
}

func (a *agentProcess) tellCommands(signal syscall.Signal) {
	for pid := range processesIn(a.work) {
		if pid != a.process.cmd.Process.Pid {
			_ = syscall.Kill(pid, signal) // or it has ended
		}
	}
}

// begun waits until the apply's first resource is being made.
func (b *runBench) begun(run api.Run) {
	b.Helper()
	b.until(run.ID, "begun", func(r api.Run) bool {
		if r.Status == "awaiting_approval" {
			b.approve(r)
		}
		return isOver(r) || r.Status == "applying" && strings.Contains(b.log(r, "apply"), "begin-")
	})
}

// An agent that is killed while it plans costs an attempt; the next agent makes it.
func TestAgentKilledInPlan(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	b := newRunBench(t, shortLease)
	far := b.pool()
	first := b.agent("a1")
	b.workspace("killed", slowly(2), far)
	run := b.order("killed", "apply")
	b.until(run.ID, "planning", is("planning", ""))
	first.kill()
	b.until(run.ID, "retrying", is("retrying", ""))
	b.agent("a2")
	run = b.ended(run.ID)
	b.exact(run, 2)
	if run.Attempt != 2 {
		t.Errorf("it took attempt %d\n%s", run.Attempt, b.story(run.ID))
	}
	b.agent("a1") // which finds what it has left, and that it is nobody's
	b.clean()
}

// TestAgentKilledInEveryPhase kills an agent wherever its runs are. The next one in its folder goes
// on with what it has left, as if nothing had been. The usual run takes some of the phases, once.
func TestAgentKilledInEveryPhase(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	b := newRunBench(t) // with the usual lease: no run is to be lost here
	far := b.pool()
	a := b.agent("a1")
	b.killedInEveryPhase(10, func() time.Time {
		a.kill()
		at := time.Now()
		time.Sleep(rand.N(500 * time.Millisecond))
		a = b.agent("a1")
		return at
	}, far)
	b.clean()
}

// stopped is an apply whose agent and command were stopped until they were taken for lost.
func (b *runBench) stopped() (*agentProcess, api.Run) {
	b.Helper()
	far := b.pool()
	a := b.agent("a1")
	b.workspace("stopped", untilReleased(3), far)
	run := b.order("stopped", "apply")
	b.begun(run)
	a.tell(syscall.SIGSTOP)
	a.tellCommands(syscall.SIGSTOP)
	run = b.until(run.ID, "orphaned", is("orphaned", ""))
	b.release() // for when the commands go on
	return a, run
}

// An agent that comes back before its command has written anything has the run again.
func TestStoppedAgentComesBack(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	b := newRunBench(t, shortLease)
	a, run := b.stopped()
	a.tell(syscall.SIGCONT)
	b.until(run.ID, "applying", is("applying", ""))
	a.tellCommands(syscall.SIGCONT)
	b.exact(b.ended(run.ID), 3)
	b.clean()
}

// A command that writes while its run is taken for lost makes a candidate, and no version. Its
// agent, when it comes back, says that the apply failed.
func TestLateWriteOfALostApply(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	b := newRunBench(t, shortLease)
	a, run := b.stopped()
	a.tellCommands(syscall.SIGCONT)
	b.fenced(run)
	a.tell(syscall.SIGCONT)
	run = b.ended(run.ID)
	if run.Status != "failed" || !strings.Contains(run.Reason, "version 0") {
		t.Errorf("the run is %s: %s\n%s", run.Status, run.Reason, b.story(run.ID))
	}
	b.noVersion(run)
	b.clean()
}

// What a command writes after somebody has decided that it is lost makes a candidate too.
func TestLateWriteBehindAVerdict(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	b := newRunBench(t, shortLease)
	a, run := b.stopped()
	run, err := b.client.ResolveRun(b.Context(), run.ID, "the machine is gone")
	b.must(err)
	a.tell(syscall.SIGCONT)
	a.tellCommands(syscall.SIGCONT)
	b.fenced(run)
	b.noVersion(run)
	if drift := b.ended(run.FollowedBy); drift.Kind != "drift" || drift.Follows != run.ID || drift.Status != "succeeded" {
		t.Errorf("behind it, the %s is %s: %s", drift.Kind, drift.Status, drift.Reason)
	}
	b.clean()
	if now := b.ended(run.ID); now.Status != "failed" || now.Reason != run.Reason {
		t.Errorf("the run is %s: %s", now.Status, now.Reason)
	}
}

// fenced waits for the candidate that a late write makes.
func (b *runBench) fenced(run api.Run) {
	b.Helper()
	b.must(poll(func() error {
		kept := 0
		for c, err := range b.client.Candidates(run.Workspace).All(b.Context()) {
			if err != nil {
				return err // while there is nothing of the state at all
			}
			if kept++; c.Source != "fenced" {
				return permanent{fmt.Errorf("a candidate from %q: %+v", c.Source, c)}
			}
		}
		if kept == 0 {
			return fmt.Errorf("no candidates\n%s", b.story(run.ID))
		}
		return nil
	}))
}

// noVersion asserts that a state has none, whose first write came too late.
func (b *runBench) noVersion(run api.Run) {
	b.Helper()
	for v, err := range b.client.Versions(run.Workspace, 0).All(b.Context()) {
		if err == nil {
			b.Errorf("a lost executor made a version: %+v", v)
		} else if refusal, ok := errors.AsType[*client.Error](err); !ok ||
			refusal.Code != api.ErrorCode(fault.StateNotFound) {
			b.Error(err)
		}
	}
}

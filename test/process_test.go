//go:build e2e

package test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// stopLimit is above what the server grants to the requests in flight.
const stopLimit = 40 * time.Second

// process is a program that runs beside the script and is always waited for.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how; read after done
}

func startProcess(dir string, environ []string, output io.Writer, program string, args ...string) (*process, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, environ
	cmd.Stdout, cmd.Stderr = output, output
	dieWithParent(cmd)
	return startCommand(cmd)
}

func startCommand(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	return p, <-started
}

// run stays on one thread: dieWithParent is about the thread that started the process.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}

// ended reports whether the process has ended, and how.
func (p *process) ended() (bool, error) {
	select {
	case <-p.done:
		return true, p.err
	default:
		return false, nil
	}
}

// end sends a signal and waits; a process that takes too long is killed. Its error is
// nil when the exit code was 0.
func (p *process) end(signal os.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.done
		return errors.New("it had to be killed")
	}
}

package agent_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
)

// plain starts commands as its own children. Those that it has started it finds again, also for
// another executor of the same process: so does an executor of a test outlive none of them.
type plain struct {
	mu    sync.Mutex
	begun map[string]*child
	level string
	least string              // that the newest command wanted
	write map[string][]string // what each command may write, by its first argument
	read  map[string][]string // likewise
}

func newPlain() *plain {
	return &plain{begun: map[string]*child{}, write: map[string][]string{}, read: map[string][]string{}, level: "none"}
}

type child struct {
	cmd        *exec.Cmd
	folder     string
	done       chan struct{}
	exit       agent.Exit
	interrupts sync.Once
}

func (p *plain) Sandbox() api.Sandbox { return api.Sandbox{Level: p.level, Network: "open"} }

func (p *plain) Start(_ context.Context, c agent.Command) (agent.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.least = c.Least
	p.write[c.Args[0]], p.read[c.Args[0]] = c.Write, c.Read
	if err := os.Mkdir(c.Folder, 0o700); err != nil {
		return nil, err
	}
	output, err := os.Create(filepath.Join(c.Folder, "log"))
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Apart {
		stdout, err := os.Create(filepath.Join(c.Folder, "stdout"))
		if err != nil {
			return nil, err
		}
		defer stdout.Close()
		cmd.Stdout = stdout
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	made := &child{cmd: cmd, folder: c.Folder, done: make(chan struct{})}
	go func() {
		defer close(made.done)
		_ = cmd.Wait()
		made.exit = agent.Exit{Code: cmd.ProcessState.ExitCode()}
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
			made.exit.Signal = status.Signal().String()
		}
	}()
	p.begun[c.Folder] = made
	return made, nil
}

func (p *plain) Find(_ context.Context, folder string) (agent.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.begun[folder]; ok {
		if _, err := os.Stat(folder); err == nil {
			return found, nil
		}
		delete(p.begun, folder)
	}
	return nil, fs.ErrNotExist
}

func (c *child) Output() string { return filepath.Join(c.folder, "log") }
func (c *child) Stdout() string { return filepath.Join(c.folder, "stdout") }

func (c *child) Wait(ctx context.Context) (agent.Exit, error) {
	select {
	case <-c.done:
		return c.exit, nil
	case <-ctx.Done():
		return agent.Exit{}, ctx.Err()
	}
}

func (c *child) Interrupt() (err error) {
	c.interrupts.Do(func() { err = c.cmd.Process.Signal(os.Interrupt) })
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func (c *child) Kill() error {
	select {
	case <-c.done: // its number may be another's by now
		return nil
	default:
		return syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	}
}

func (c *child) Evidence() agent.Evidence { return agent.Evidence{PID: c.cmd.Process.Pid} }
func (c *child) Sandbox() *api.Sandbox    { return &api.Sandbox{Level: "none"} }

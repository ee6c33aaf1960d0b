// Package machine is what an executor has of its machine: commands that run under shims in the
// sandbox, and the tools of a store.
package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/shim"
	"github.com/holdfast/holdfast/api"
)

// Commands starts commands under shims.
type Commands struct {
	limits  sandbox.Limits
	network sandbox.Network
	user    *sandbox.User
	least   sandbox.Level
	open    bool
	work    string

	mu        sync.Mutex
	reached   api.Sandbox
	installed string // what there was of bubblewrap when that was found out
}

// CommandSettings say what is closed to commands.
type CommandSettings struct {
	Work string // a folder for the probe
	// Shims says that this program has the commands shim.Command and shim.SandboxedCommand: it starts
	// itself with them, and one that hasn't would do who knows what.
	Shims   bool
	Limits  sandbox.Limits
	Network sandbox.Network
	User    *agent.User // whom commands run as, where we are root; nil for whoever we are
	// Least is the level below which nothing is started but what shows the level.
	Least sandbox.Level
	// Open leaves the sandbox out.
	Open bool
	// Private are files and folders with secrets, absolute: where the system's own folders, which
	// commands may read, have one of them, nothing is started.
	Private []string
}

// probePatience is how long the command may take that shows what the sandbox reaches.
const probePatience = time.Minute

// NewCommands finds out what the sandbox reaches on this machine, by a command that does
// nothing. Where that is less than is wanted it is for the caller to say so: see Sandbox.
func NewCommands(ctx context.Context, s CommandSettings) (*Commands, error) {
	if !s.Shims {
		return nil, errors.New("this program has no command that is a shim, so it can't start commands of runs")
	}
	c := &Commands{limits: s.Limits, network: s.Network, least: s.Least, open: s.Open, work: s.Work}
	if s.User != nil {
		c.user = &sandbox.User{UID: uint32(s.User.UID), GID: uint32(s.User.GID)}
	}
	for _, path := range append(s.Private, s.Work) {
		if within := sandbox.Exposed(path); within != "" && !s.Open {
			return nil, fmt.Errorf("commands may read all of %s, and %s is in there: keep it elsewhere", within, path)
		}
	}
	if err := os.MkdirAll(s.Work, 0o700); err != nil {
		return nil, err
	}
	c.installed = sandbox.Installed()
	var err error
	c.reached, err = c.probe(ctx)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// probe runs a command that does nothing, and returns what its sandbox reached.
func (c *Commands) probe(ctx context.Context) (reached api.Sandbox, err error) {
	ctx, stop := context.WithTimeout(ctx, probePatience)
	defer stop()
	folder, err := os.MkdirTemp(c.work, "probe")
	if err != nil {
		return reached, err
	}
	defer os.RemoveAll(folder)
	program, args, err := harmless()
	if err != nil {
		return reached, err
	}
	network := c.network
	network.RequireClosed = false // it shows whether that can be
	process, err := c.startIn(ctx, agent.Command{
		Folder: filepath.Join(folder, "p"), Path: program, Args: args, Dir: "/", Read: []string{program},
	}, sandbox.None, network)
	if err != nil {
		return reached, err
	}
	if exit, err := process.Wait(ctx); err != nil || exit.Code != 0 {
		return reached, errors.Join(err, fmt.Errorf("commands can't be run here: %s", exit.Failed))
	}
	if found := process.Sandbox(); found != nil {
		reached = *found
	}
	return reached, nil
}

// harmless returns a program that does nothing: the system's, or this one where there is none.
func harmless() (path string, args []string, err error) {
	for _, path := range []string{"/usr/bin/true", "/bin/true"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil, nil
		}
	}
	path, err = os.Executable()
	return path, []string{"version"}, err
}

// Sandbox implements agent.Commands. It is found out anew where bubblewrap was installed, replaced or removed
// meanwhile, since each command tries it.
func (c *Commands) Sandbox() api.Sandbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := sandbox.Installed(); now != c.installed {
		if reached, err := c.probe(context.Background()); err == nil {
			c.reached, c.installed = reached, now
		}
	}
	return c.reached
}

// Start implements agent.Commands.
func (c *Commands) Start(ctx context.Context, command agent.Command) (agent.Process, error) {
	least, err := sandbox.ParseLevel(command.Least)
	if err != nil {
		return nil, err
	}
	return c.start(ctx, command, max(least, c.least))
}

func (c *Commands) start(ctx context.Context, command agent.Command, least sandbox.Level) (agent.Process, error) {
	return c.startIn(ctx, command, least, c.network)
}

func (c *Commands) startIn(ctx context.Context, command agent.Command, least sandbox.Level,
	network sandbox.Network) (agent.Process, error) {
	made, err := shim.Start(ctx, shim.Spec{
		Dir: command.Folder, Command: command.Path, Args: command.Args, WorkDir: command.Dir, Env: command.Env,
		Apart: command.Apart, Patience: command.Patience,
		Limits: c.limits, Sandbox: sandbox.Policy{
			ReadOnly: command.Read, ReadWrite: command.Write, Network: network, User: c.user, MinLevel: least, Open: c.open,
		},
	})
	if err != nil {
		return nil, err
	}
	return process{made}, nil
}

// Find implements agent.Commands. A shim that never let its command go counts for none: the
// folder is cleared, for another start.
func (c *Commands) Find(_ context.Context, folder string) (agent.Process, error) {
	found, err := shim.Find(folder)
	if err != nil {
		return nil, err
	}
	status, err := found.Status()
	if err != nil {
		return nil, err
	}
	if status.Condition == shim.NeverBegan {
		if err := os.RemoveAll(folder); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the command in %s was never begun: %w", folder, os.ErrNotExist)
	}
	return process{found}, nil
}

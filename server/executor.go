package server

import (
	"context"
	"net"
	"path/filepath"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/local"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/outbound"
)

// startExecutor begins, in the background, to execute runs of local organizations, once there are
// any: what it takes to find out what is closed to commands here delays nobody. The server can be
// reached at the address. When the server ends, commands go on, and are found again by the next one.
func (p *parts) startExecutor(ctx context.Context, address net.Addr) error {
	if p.runs == nil {
		return nil
	}
	settings, commands, err := p.executorSettings(address)
	if err != nil {
		return err
	}
	if !commands.Shims {
		p.log.InfoContext(ctx, "this program executes no runs itself")
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := p.execute(ctx, settings, commands); err != nil && ctx.Err() == nil {
			p.log.ErrorContext(ctx, "the server executes no runs itself, or no more", "error", err)
		}
	}()
	p.closers = append(p.closers, func() {
		cancel()
		<-ended
	})
	return nil
}

// execute waits until there is something to execute, and does so until the context ends.
func (p *parts) execute(ctx context.Context, settings agent.Settings, c machine.CommandSettings) error {
	for {
		replaced := p.watcher.Replaced()
		left, err := agent.AnyLeft(settings.Work)
		if err != nil {
			return err
		}
		if left || len(p.watcher.RunsLocal()) > 0 {
			break
		}
		select {
		case <-replaced:
		case <-ctx.Done():
			return nil
		}
	}
	commands, err := machine.NewCommands(ctx, c)
	if err != nil {
		return err
	}
	reached := commands.Sandbox()
	p.log.InfoContext(ctx, "the server executes runs", "sandbox", reached.Level, "network", reached.Network,
		"weaker_because", reached.Why)
	settings.Commands, settings.Presentation = commands, api.AgentRegistration{Name: local.ID, Sandbox: reached.Level}
	executor, err := agent.New(settings)
	if err != nil {
		return err
	}
	return executor.Run(ctx)
}

// executorSettings are those of the server's own executor, and of the commands that it starts.
func (p *parts) executorSettings(address net.Addr) (agent.Settings, machine.CommandSettings, error) {
	var none agent.Settings
	work, err := filepath.Abs(p.settings.RunsWork())
	if err != nil {
		return none, machine.CommandSettings{}, err
	}
	own, err := reachOf(p.settings, address)
	if err != nil {
		return none, machine.CommandSettings{}, err
	}
	private, err := p.private()
	if err != nil {
		return none, machine.CommandSettings{}, err
	}
	store, err := p.tools()
	if err != nil {
		return none, machine.CommandSettings{}, err
	}
	least, err := sandbox.ParseLevel(p.settings.Runs.MinSandbox)
	if err != nil {
		return none, machine.CommandSettings{}, err
	}
	authorities, err := outbound.Bundle(p.settings.Repositories.CAFile)
	if err != nil {
		return none, machine.CommandSettings{}, err
	}
	own.network.RequireClosed = p.settings.Runs.RequireClosedNetwork
	infracost := agent.Infracost{Path: p.settings.Runs.Infracost, Key: p.settings.Runs.InfracostKey.Reveal()}
	return agent.Settings{
			Server: &local.Server{Runs: p.runs, Tokens: p.runTokens, Orgs: p.watcher.RunsLocal},
			Work:   work, Slots: p.settings.Runs.Slots, Address: own.address, CACertificate: own.certificate,
			Authorities: authorities,
			Tools: machine.Tools{Store: store, Cache: filepath.Join(work, "cache"), Direct: p.settings.Tools.AllowDownload,
				Engine: p.engine()},
			// What a tenant asks for is no floor: without a sandbox its commands would read everybody's.
			MinSandbox: least.String(), MaxFolderBytes: p.settings.Runs.MaxFolderBytes, Infracost: infracost, Log: p.log,
			Discards: p.isShredded,
		}, machine.CommandSettings{
			Work: work, Network: own.network, Least: least, Private: private, Shims: p.program.Shims,
			Limits: sandbox.Limits{Memory: uint64(p.settings.Runs.MaxMemoryBytes), CPU: p.settings.Runs.MaxCPUTime},
		}, nil
}

// engine is Holdfast's own engine as a tool of runs.
func (p *parts) engine() machine.Engine {
	return machine.Engine{Version: p.program.Version, Args: p.program.Engine}
}

// private are the files and folders that no command may read: of the server, and what it has of organizations.
func (p *parts) private() (all []string, err error) {
	s := p.settings
	for _, path := range []string{s.SecretsIn(), s.Storage.Path, s.Storage.OutboxPath, s.MasterKeyPath(),
		s.Seal.KeyTokenFile, s.AuditKeyPath(), s.Auth.File, s.Server.TLSKeyFile, s.RepositoryMirrors()} {
		if path == "" {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// tools are those that are kept in the data folder. Commands need absolute paths.
func (p *parts) tools() (*tools.Store, error) {
	settings := ToolSettings(p.settings)
	root, err := filepath.Abs(settings.Root)
	settings.Root = root
	return tools.New(settings), err
}

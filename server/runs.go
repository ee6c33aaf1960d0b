package server

import (
	"context"
	"net"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/local"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/token"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// runTokenKind is what the secret of run tokens is derived for.
const runTokenKind seal.Kind = "run_token"

// ownOrg stands for the server itself, where an organization is asked for. None has this UUID.
func ownOrg() uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte("holdfast")) }

// openRuns makes the service of runs, and has time go on for them. It stays nil where there are
// no workspaces.
func (p *parts) openRuns(ctx context.Context) error {
	if p.database == nil {
		return nil
	}
	secret, err := p.sealer.Sum(ctx, ownOrg(), runTokenKind)
	if err != nil {
		return err
	}
	store, err := p.tools()
	if err != nil {
		return err
	}
	p.runTokens.signer = token.NewSigner(secret)
	p.runs = runs.NewService(runs.Deps{
		Store: sqlruns.New(p.database), Workspaces: p.runWorkspaces(), States: runStates{p.service, p.states}, Seals: p.sealer,
		Tokens: p.runTokens, Tools: machine.Tools{Store: store}, Gate: p.gate, Audit: p.states, Memory: p.memory,
		Limits: runLimits(p.settings.Runs), Now: time.Now, Log: p.log,
	})
	p.runTokens.service, p.workspaceRuns.service = p.runs, p.runs
	p.service.OnMove(p.stateMoved)
	p.closers = append(p.closers,
		sweepOften(ctx, min(runSweep, p.settings.Runs.Lease/5), p.runs.Sweep, p.log),
		sweepRegularly(ctx, p.runs.Retain, p.log))
	return nil
}

func runLimits(s configs.Runs) runs.Limits {
	return runs.Limits{
		Waiting: s.MaxWaiting, Working: s.MaxWorking, Stored: s.MaxRuns, StoredBytes: s.MaxStoredBytes,
		Lease: s.Lease, Orphans: s.OrphanTimeout, LogBytes: s.MaxLogBytes, KeepRuns: days(s.KeepDays),
	}
}

func (p *parts) runWorkspaces() runWorkspaces {
	return runWorkspaces{service: p.workspaces, maxLogBytes: p.settings.Runs.MaxLogBytes, keepFiles: days(p.settings.Runs.KeepPlanDays)}
}

// runSweep is how often runs are looked at whose time has come, at least: in the time of a lease it
// is to be several times.
const runSweep = 5 * time.Second

// stateMoved has plans found stale that somebody's write of a state has outdated. A run's own
// writes outdate nothing: while it applies, no other plan of the workspace waits.
func (p *parts) stateMoved(ctx context.Context, moved state.Moved) {
	if moved.Head.Fence.Run != "" && moved.Actor.KeyID == auth.RunKeyID(moved.Head.Fence.Run) {
		return
	}
	by := api.Actor{KeyID: moved.Actor.KeyID, KeyName: moved.Actor.KeyName, Subject: moved.Actor.Subject}
	err := p.runs.StateMoved(ctx, moved.Ref.Org, string(moved.Ref.Name), baseOf(moved.Head), by)
	if err != nil {
		p.log.ErrorContext(ctx, "plans that a write has outdated wait still; they are refused when they are to be applied", "state", moved.Ref.Name, "error", err)
	}
}

// startExecutor begins to execute runs of local organizations, once the server can be reached at
// the address.
func (p *parts) startExecutor(ctx context.Context, address net.Addr) error {
	if p.runs == nil {
		return nil
	}
	work, err := filepath.Abs(p.settings.RunsWork())
	if err != nil {
		return err
	}
	own, err := reachOf(p.settings, address)
	if err != nil {
		return err
	}
	private, err := p.private()
	if err != nil {
		return err
	}
	// What a tenant asks for is no floor: without a sandbox its commands would read everybody's.
	commands, err := machine.NewCommands(ctx, machine.CommandSettings{Work: work, Network: own.network, Least: sandbox.Landlock, Private: private})
	if err != nil {
		p.log.ErrorContext(ctx, "the server executes no runs itself", "error", err)
		return nil
	}
	store, err := p.tools()
	if err != nil {
		return err
	}
	executor, err := agent.New(agent.Settings{
		Server: &local.Server{Runs: p.runs, Tokens: p.runTokens, Orgs: p.watcher.RunsLocal},
		Presentation: api.AgentRegistration{
			Name: local.ID, Sandbox: commands.Sandbox().Level,
		},
		Work: work, Slots: p.settings.Runs.Slots, Address: own.address, CACertificate: own.certificate,
		Tools:    machine.Tools{Store: store, Cache: filepath.Join(work, "cache"), Direct: p.settings.Tools.AllowDownload},
		Commands: commands, Log: p.log,
	})
	if err != nil {
		return err
	}
	p.runExecutor(ctx, executor)
	return nil
}

// private are the files and folders that no command may read.
func (p *parts) private() (all []string, err error) {
	for _, path := range []string{p.settings.Storage.Path, p.settings.MasterKeyPath(), p.settings.Auth.File, p.settings.Server.TLSKeyFile} {
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

// runExecutor runs it in the background. When the server ends, commands go on, and are found
// again by the next one.
func (p *parts) runExecutor(ctx context.Context, executor *agent.Executor) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := executor.Run(ctx); err != nil && ctx.Err() == nil {
			p.log.ErrorContext(ctx, "the server executes no runs any more", "error", err)
		}
	}()
	p.closers = append(p.closers, func() {
		cancel()
		<-ended
	})
}

// tools are those that are kept in the data folder. Commands need absolute paths.
func (p *parts) tools() (*tools.Store, error) {
	settings := ToolSettings(p.settings)
	root, err := filepath.Abs(settings.Root)
	settings.Root = root
	return tools.New(settings), err
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

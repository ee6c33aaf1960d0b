package server

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/internal/outbound"
	"github.com/holdfast/holdfast/internal/webhook"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/token"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqllayers"
	"github.com/holdfast/holdfast/storage/sqlpolicy"
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
	roots, err := outbound.Roots(p.settings.Repositories.CAFile)
	if err != nil {
		return err
	}
	p.runTokens.signer = token.NewSigner(secret)
	kept := sqlruns.New(p.database)
	p.live.Runs = kept
	insights := &runInsights{}
	p.runs = runs.NewService(runs.Deps{
		Executes: func(org uuid.UUID) bool { return slices.Contains(p.watcher.RunsLocal(), org) },
		Store:    kept, Changed: p.live.Wake, Workspaces: p.runWorkspaces(), States: runStates{p.service, p.states},
		Seals:  p.sealer,
		Tokens: p.runTokens, Tools: machine.Tools{Store: store, Engine: p.engine()},
		Gate: p.gate, Audit: p.live.Recorder(p.states), Deliver: p.workspaces.Deliver,
		Standing: standing{p.verifier.Keyring}, Callers: standing{p.verifier.Keyring}.callers,
		Access: p.watcher, Insights: insights,
		Deciders: deciders{p.watcher, webhook.NewAsker(p.settings.Server.NoticeNetworks, roots)},
		Memory:   p.memory,
		Limits:   runLimits(p.settings.Runs), Now: time.Now, Log: p.log, Scarce: p.scarce,
	})
	p.policies = policy.NewService(policy.Deps{Store: sqlpolicy.New(p.database), Gate: p.gate,
		Audit:   p.live.Recorder(p.states),
		Deliver: p.workspaces.Deliver, Changed: p.policiesChanged, Now: time.Now, Log: p.log})
	p.insights = insight.NewService(p.runs, p.policies, p.memory, time.Now)
	if err := p.useModel(); err != nil {
		return err
	}
	insights.service = p.insights
	p.runTokens.service, p.workspaceRuns.service = p.runs, p.runs
	p.service.OnMove(p.stateMoved)
	p.closers = append(p.closers,
		p.runs.Rest, // behind the sweeps, which are ended before
		sweepOften(ctx, min(runSweep, p.settings.Runs.Lease/5), p.runs.Sweep, p.log),
		sweepRegularly(ctx, p.runs.Retain, p.log))
	return nil
}

// scarce reports whether the disk that runs are kept on has its reserve left only.
func (p *parts) scarce() bool {
	return p.settings.Runs.Storage == configs.SQLite && p.keeper.Scarce() != ""
}

func runLimits(s configs.Runs) runs.Limits {
	return runs.Limits{
		Waiting: s.MaxWaiting, Working: s.MaxWorking, Stored: s.MaxRuns, StoredBytes: s.MaxStoredBytes,
		Lease: s.Lease, Orphans: s.OrphanTimeout, LogBytes: s.MaxLogBytes, KeepRuns: days(s.KeepDays),
	}
}

func (p *parts) runWorkspaces() runWorkspaces {
	return runWorkspaces{service: p.workspaces, layers: sqllayers.New(p.database),
		maxLogBytes: p.settings.Runs.MaxLogBytes, keepFiles: days(p.settings.Runs.KeepPlanDays)}
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
		p.log.ErrorContext(ctx, "plans that a write has outdated wait still; they are refused when they are to be applied",
			"state", moved.Ref.Name, "error", err)
	}
}

// policiesChanged has plans made anew that were shown to other policies than those that count now.
func (p *parts) policiesChanged(ctx context.Context, by auth.Principal, workspace string) {
	if err := p.runs.PoliciesChanged(ctx, by.Org, workspace, runs.ActorOf(by).Wire()); err != nil {
		p.log.ErrorContext(ctx, "plans that were shown to other policies wait still; they are refused when they are to be "+
			"applied", "workspace", workspace, "error", err)
	}
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

package server

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqllayers"
	"github.com/holdfast/holdfast/storage/sqlpulls"
	"github.com/holdfast/holdfast/workspace"
)

// layerSweep is how often layers are looked at whose time has come.
const layerSweep = time.Second

// openLayers makes the service of layers, and has time go on for them. It stays nil where there are no runs.
func (p *parts) openLayers(ctx context.Context) {
	if p.runs == nil || p.repositories == nil {
		return
	}
	p.layers = layers.NewService(layers.Deps{
		Store: sqllayers.New(p.database), Repositories: layerRepositories{p.repositories},
		Workspaces: layerWorkspaces{p.workspaces}, Runs: layerRuns{p.runs, sqlpulls.New(p.database)},
		Inventory: layerInventory{p.catalogue.service}, Gate: p.gate, Audit: p.live.Recorder(p.states),
		Deliver: p.workspaces.Deliver, Now: time.Now, Log: p.log,
	})
	p.service.OnMove(func(ctx context.Context, moved state.Moved) {
		if err := p.layers.StateMoved(ctx, layers.Ref{Org: moved.Ref.Org, Name: string(moved.Ref.Name)}); err != nil {
			p.log.WarnContext(ctx, "a layer is not looked at yet though its state has changed", "layer", moved.Ref.Name,
				"error", err)
		}
	})
	p.repositories.OnMoved(func(ctx context.Context, moved repos.Moved) {
		if err := p.layers.Pushed(ctx, layers.Ref{Org: moved.Org, Name: moved.Repository}); err != nil {
			p.log.WarnContext(ctx, "the layers of a repository are not looked at yet", "repository", moved.Repository,
				"error", err)
		}
	})
	p.closers = append(p.closers, repeat(ctx, layerSweep, layerSweep, p.layers.Sweep, func(err error) {
		p.log.ErrorContext(ctx, "not all layers whose time has come were looked at; the next sweep tries again", "error", err)
	}))
}

// itself is the server as a caller of its own services, in an organization.
func itself(org uuid.UUID) auth.Principal {
	return auth.Principal{Org: org, KeyID: audit.Server().KeyID, Grant: auth.Grant{Role: auth.Owner}}
}

// layerRepositories is what layers need of repositories.
type layerRepositories struct{ service *repos.Service }

// Head implements layers.Repositories.
func (r layerRepositories) Head(ctx context.Context, org uuid.UUID, repository, branch string) (layers.Commit, string,
	error) {
	found, err := r.service.Get(ctx, itself(org), repository)
	if err != nil {
		return layers.Commit{}, "", err
	}
	head := found.Status.Heads[branch]
	if head == "" && found.Status.Fetched.IsZero() {
		if found, err = r.service.Fetch(ctx, itself(org), repository); err != nil {
			return layers.Commit{}, "", err
		}
		head = found.Status.Heads[branch]
	}
	if head == "" {
		return layers.Commit{}, "", fault.Wrap(layers.ErrNoBranch, fault.LayerInvalid,
			"the repository %s has no branch %q, as far as it is fetched", repository, branch)
	}
	return layers.Commit{ID: head, At: found.Status.Fetched}, found.Status.Problem, nil
}

// mostBetween is how many commits, and mostPaths how many paths, are told apart.
const (
	mostBetween = 200
	mostPaths   = 200_000
)

// Between implements layers.Repositories.
func (r layerRepositories) Between(ctx context.Context, org uuid.UUID, repository, from, to string) (
	all []layers.CommitPaths, err error) {
	m, err := r.service.At(ctx, org, repository, to)
	if err != nil {
		return nil, err
	}
	if behind, err := m.IsAncestor(ctx, from, to); err != nil || !behind {
		return nil, layers.ErrApart
	}
	paths := 0
	for c, err := range m.Log(ctx, gitmirror.Range{From: from, To: to, Most: mostBetween + 1}) {
		if err != nil {
			return nil, repos.Explain(repository, err)
		}
		paths += len(c.Changes)
		if len(all) == mostBetween || c.More || paths > mostPaths {
			return nil, layers.ErrApart
		}
		one := layers.CommitPaths{Commit: layers.Commit{ID: c.Hash, At: c.At}, Subject: c.Subject}
		for _, change := range c.Changes {
			one.Paths = append(one.Paths, change.Path)
		}
		all = append(all, one)
	}
	return all, nil
}

// Differences implements layers.Repositories.
func (r layerRepositories) Differences(ctx context.Context, org uuid.UUID, repository, from, to string) ([]string,
	error) {
	m, err := r.service.At(ctx, org, repository, to)
	if err != nil {
		return nil, err
	}
	changes, more, err := m.Diff(ctx, from, to, mostPaths)
	if err != nil || more {
		return nil, layers.ErrApart
	}
	paths := make([]string, len(changes))
	for i, change := range changes {
		paths[i] = change.Path
	}
	return paths, nil
}

// Read implements layers.Repositories.
func (r layerRepositories) Read(ctx context.Context, org uuid.UUID, repository, commit string,
	read func(fs.FS) error) error {
	m, err := r.service.At(ctx, org, repository, commit)
	if err != nil {
		return err
	}
	tree, err := m.Tree(ctx, commit)
	if err != nil {
		return repos.Explain(repository, err)
	}
	err = read(tree.FS(ctx))
	if closed := tree.Close(); err == nil {
		err = closed
	}
	return repos.Explain(repository, err)
}

// Archive implements layers.Repositories.
func (r layerRepositories) Archive(ctx context.Context, org uuid.UUID, repository, commit string, folders,
	files []string, w io.Writer) error {
	for i, folder := range folders {
		if folder == "." {
			folders[i] = ""
		}
	}
	return r.service.Archive(ctx, org, repository, commit, gitmirror.Archiving{Folders: folders, Files: files}, w)
}

// layerWorkspaces is what layers need of workspaces.
type layerWorkspaces struct{ service *workspace.Service }

// Make implements layers.Workspaces.
func (w layerWorkspaces) Make(ctx context.Context, p auth.Principal, name string, t layers.Tooling,
	folder string) error {
	change := func(s *workspace.Settings) {
		s.Tool, s.Version = cmp.Or(t.Tool, s.Tool), cmp.Or(t.Version, s.Version)
		if t.Reads != nil {
			s.Reads = t.Reads
		}
		s.Directory = folder
	}
	_, err := w.service.Configure(ctx, p, state.Name(name), change)
	if !fault.Is(err, fault.WorkspaceNotFound) {
		return err
	}
	settings := workspace.Defaults()
	change(&settings)
	_, err = w.service.Create(ctx, p, state.Name(name), settings)
	return err
}

// Tooling implements layers.Workspaces.
func (w layerWorkspaces) Tooling(ctx context.Context, p auth.Principal, name string) (layers.Tooling, error) {
	found, err := w.service.Get(ctx, p, state.Name(name))
	if fault.Is(err, fault.WorkspaceNotFound) {
		return layers.Tooling{}, nil
	}
	return layers.Tooling{Tool: found.Settings.Tool, Version: found.Settings.Version, Reads: found.Settings.Reads}, err
}

// Bring implements layers.Workspaces.
func (w layerWorkspaces) Bring(ctx context.Context, org uuid.UUID, name, message string,
	write func(io.Writer) error) (string, error) {
	from, to := io.Pipe()
	go func() {
		packed := gzip.NewWriter(to)
		err := write(packed)
		if closed := packed.Close(); err == nil {
			err = closed
		}
		_ = to.CloseWithError(err) // nil ends it
	}()
	made, err := w.service.PushArchive(ctx, itself(org), state.Name(name), from, message, nil)
	_ = from.Close() // whoever writes still is told
	if err != nil {
		return "", err
	}
	return made.ID.String(), nil
}

// layerRuns is what layers need of runs.
type layerRuns struct {
	service *runs.Service
	pulls   pulls.Store
}

// Share implements layers.Runs: a quarter of what may go on at once, at least one.
func (r layerRuns) Share() int { return max(1, r.service.Limits.Working/4) }

// Begin implements layers.Runs.
func (r layerRuns) Begin(ctx context.Context, o layers.Order) (string, error) {
	own := runs.Own{Workspace: o.Workspace, Snapshot: o.Snapshot, Message: o.Message, Priority: runs.Drifts}
	if o.Commit {
		own.Priority = runs.Commits
	}
	switch o.Want {
	case layers.WantCheck:
		own.Kind, own.Whole = runs.Drift, o.Whole
	case layers.WantPlan:
		own.Kind = runs.Plan
	case layers.WantPropose:
		own.Kind, own.Wait = runs.Apply, true
	default:
		own.Kind, own.AutoApprove, own.Most = runs.Apply, true, o.MaxChanges
	}
	made, err := r.service.Begin(ctx, o.Org, own, o.Key)
	return made.ID, err
}

// maxFollows is how many runs are followed that the server has made behind another one.
const maxFollows = 20

// Outcome implements layers.Runs.
func (r layerRuns) Outcome(ctx context.Context, org uuid.UUID, id string) (layers.Outcome, error) {
	run, err := r.service.Look(ctx, runs.Ref{Org: org, ID: id})
	for range maxFollows {
		if err != nil || run.Follow == nil || !run.Follow.Kind.Mutates() {
			break
		}
		next, failed := r.service.Look(ctx, runs.Ref{Org: org, ID: run.Follow.ID})
		if fault.Is(failed, fault.RunNotFound) {
			if !run.Follow.Done {
				run.FinishedAt = time.Time{} // it is made soon
			}
			break
		}
		run, err = next, failed
	}
	if err != nil {
		return layers.Outcome{}, err
	}
	out := outcomeOf(run)
	out.Standing.Nobody, err = r.service.Nobody(ctx, run)
	return out, err
}

func outcomeOf(run runs.Run) layers.Outcome {
	out := layers.Outcome{Run: run.ID, Planned: run.PlannedAt, Reason: run.Reason, GaveUp: run.GaveUp,
		Waits: run.Status == runs.AwaitingApproval, Base: run.Base.Version, After: run.After,
		Standing: layers.RunStanding{Executed: !run.StartedAt.IsZero(), Active: run.Status.Leased(),
			Planned: run.Status == runs.AwaitingApproval || run.Status == runs.Confirmed,
			Tries:   run.Tries + run.Attempt - 1, RetryAt: run.NotBefore}}
	if run.Counts != nil {
		out.Changes = run.Counts.Any
	}
	if run.Pin != nil {
		out.Digest = run.Pin.Changes
	}
	if !run.Status.Ended() || run.FinishedAt.IsZero() {
		return out
	}
	out.Ended = run.FinishedAt
	switch unanswered := run.Outside != nil && run.Outside.Stopped; {
	case run.Status == runs.Succeeded:
		out.End = layers.EndedWell
	case run.Status == runs.Outdated:
		out.End = layers.Stale
	case run.Status == runs.Failed, run.Status == runs.Discarded && unanswered: // nobody has said no to its plan
		out.End = layers.EndedBad
	default:
		out.End = layers.Refused
	}
	return out
}

// Supersede implements layers.Runs.
func (r layerRuns) Supersede(ctx context.Context, org uuid.UUID, run, why string) error {
	err := r.service.Supersede(ctx, runs.Ref{Org: org, ID: run}, why)
	if fault.Is(err, fault.RunNotFound) {
		return nil
	}
	return err
}

// Found implements layers.Runs.
func (r layerRuns) Found(ctx context.Context, org uuid.UUID, id string) (layers.CheckResult, error) {
	from, err := r.service.Changes(ctx, itself(org), id)
	if err != nil {
		return layers.CheckResult{}, err
	}
	var all api.RunChanges
	if err := json.NewDecoder(from).Decode(&all); err != nil {
		return layers.CheckResult{}, err
	}
	return layers.CheckResult{Outside: changedOf(all.Drift), Planned: changedOf(all.Changes)}, nil
}

func changedOf(all []api.RunChange) []layers.Changed {
	found := make([]layers.Changed, len(all))
	for i, c := range all {
		found[i] = layers.Changed{Address: c.Address, Type: c.Type, Provider: c.Provider, Actions: c.Actions,
			Before: c.Before, After: c.After}
	}
	return found
}

// State implements layers.Runs.
func (r layerRuns) State(ctx context.Context, ref layers.Ref) (layers.StateFact, error) {
	head, err := r.service.States.Head(ctx, ref.Org, ref.Name)
	if err != nil {
		return layers.StateFact{}, err
	}
	standing := layers.StateFact{Version: head.Version, Resources: head.Resources}
	_, holder, err := r.service.Store.Position(ctx, runs.Run{Org: ref.Org, Workspace: ref.Name})
	if err != nil {
		return layers.StateFact{}, err
	}
	if run, err := r.service.Look(ctx, runs.Ref{Org: ref.Org, ID: holder}); holder != "" && err == nil &&
		run.Status == runs.Applying {
		standing.Applying = holder
	}
	if head.By == nil || auth.RunOfKeyID(head.By.KeyID) == "" {
		return standing, nil
	}
	writer, err := r.service.Look(ctx, runs.Ref{Org: ref.Org, ID: auth.RunOfKeyID(head.By.KeyID)})
	if fault.Is(err, fault.RunNotFound) {
		return standing, nil
	}
	if err != nil || writer.Order.Pull == nil {
		return standing, err
	}
	of := writer.Order.Pull
	pull, there, err := r.pulls.Pull(ctx, pulls.Ref{Org: ref.Org, Repository: of.Repository, Number: of.Number})
	if there && pull.At.State == forge.Open {
		standing.Pull = fmt.Sprintf("%s#%d", of.Repository, of.Number)
	}
	return standing, err
}

// layerInventory is what layers need of the inventory.
type layerInventory struct{ service *resources.Service }

// Claims implements layers.Inventory.
func (i layerInventory) Claims(ctx context.Context, p auth.Principal, name string,
	addresses []string) (map[string][]layers.Claim, error) {
	found, err := i.service.Claims(ctx, p, state.Name(name), addresses)
	all := make(map[string][]layers.Claim, len(found))
	for address, claims := range found {
		for _, c := range claims {
			one := layers.Claim{Name: string(c.State), At: c.At}
			if c.Source == resources.FromUpload {
				one = layers.Claim{Upload: true, Name: c.Address, At: c.At}
			}
			all[address] = append(all[address], one)
		}
	}
	return all, err
}

package server

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/links"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/hook"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlpulls"
	"github.com/holdfast/holdfast/workspace"
)

// openPulls has pull requests looked after. It stays nil where there are no layers.
func (p *parts) openPulls(ctx context.Context) {
	if p.layers == nil {
		return
	}
	store := sqlpulls.New(p.database)
	p.pulls = pulls.NewService(pulls.Deps{
		Store: store, Repositories: pullRepositories{p.repositories, store},
		Layers: pullLayers{p.layers, p.repositories, p.workspaces}, Runs: pullRuns{p.runs, p.insights},
		Gate: p.gate, Audit: p.live.Recorder(p.states), Link: links.Site(p.settings.Server.PublicURL).Run, Now: time.Now,
		Token: uuid.NewString, Log: p.log,
	})
	p.repositories.OnEvent(func(ctx context.Context, e repos.Event) error {
		if e.Kind != hook.Pull && e.Kind != hook.Comment || e.Number <= 0 {
			return nil
		}
		return p.pulls.Told(ctx, pulls.Ref{Org: e.Org, Repository: e.Repository, Number: e.Number})
	})
	p.repositories.OnRemove(store.Forget)
	p.closers = append(p.closers, sweepRegularly(ctx, p.pulls.Sweep, p.log))
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { p.pulls.Run(ctx) })
	p.closers = append(p.closers, func() {
		cancel()
		running.Wait()
	})
}

// pullRepositories is what pull requests need of repositories.
type pullRepositories struct {
	service *repos.Service
	store   pulls.Store
}

// Forge implements pulls.Repositories.
func (r pullRepositories) Forge(ctx context.Context, org uuid.UUID, name string) (forge.Forge, pulls.Settings, error) {
	settings, err := r.store.Settings(ctx, org, name)
	if err != nil || settings.Off() {
		return nil, settings, err
	}
	credential, err := r.service.Credential(ctx, org, name)
	if err != nil {
		return nil, settings, err
	}
	opened, err := forge.New(credential.Forge)
	if err != nil {
		return nil, settings, fault.Wrap(err, fault.RepositoryInvalid, "pull requests of %s are not looked at: %v", name, err)
	}
	return opened, settings, nil
}

// Known implements pulls.Repositories.
func (r pullRepositories) Known(ctx context.Context, org uuid.UUID, name string) error {
	_, err := r.service.Get(ctx, itself(org), name)
	return err
}

// pullLayers is what pull requests need of layers and their workspaces.
type pullLayers struct {
	layers       *layers.Service
	repositories *repos.Service
	workspaces   *workspace.Service
}

// fetched has the head of a pull request in this process's mirror.
func (l pullLayers) fetched(ctx context.Context, of pulls.Ref, at forge.PullRequest) error {
	credential, err := l.repositories.Credential(ctx, of.Org, of.Repository)
	if err != nil {
		return err
	}
	head := repos.PullHead{Commit: at.Head, Number: of.Number, Fork: at.Fork}
	switch provider := credential.Forge.Provider; {
	case provider == forge.GitHub, provider == forge.Gitea, provider == forge.Forgejo:
		head.Ref = fmt.Sprintf("refs/pull/%d/head", of.Number)
	case provider == forge.GitLab:
		head.Ref = fmt.Sprintf("refs/merge-requests/%d/head", of.Number)
	case at.Fork && at.Source == "":
		return fault.New(fault.CommitNotFound, "%s does not say where the fork of the pull request is", provider)
	default:
		head.Ref, head.Source = "refs/heads/"+at.HeadRef, at.Source
	}
	return l.repositories.AtPull(ctx, of.Org, of.Repository, head)
}

// Definitions implements pulls.Layers.
func (l pullLayers) Definitions(ctx context.Context, of pulls.Ref, at forge.PullRequest) (map[string]string, error) {
	return l.layers.Definitions(ctx, of.Org, of.Repository, at.BaseRef)
}

// Affected implements pulls.Layers.
func (l pullLayers) Affected(ctx context.Context, of pulls.Ref, at forge.PullRequest, paths []string,
	all bool) ([]string, error) {
	if err := l.fetched(ctx, of, at); err != nil {
		return nil, err
	}
	paths, err := l.repositories.Inside(ctx, of.Org, of.Repository, at.Head, paths)
	if err != nil {
		return nil, err
	}
	return l.layers.ChangedAt(ctx, of.Org, of.Repository, at.BaseRef, at.Head, paths, all)
}

// Base implements pulls.Layers.
func (l pullLayers) Base(ctx context.Context, of pulls.Ref, at forge.PullRequest) (string, error) {
	found, err := l.repositories.Get(ctx, itself(of.Org), of.Repository)
	return found.Status.Heads[at.BaseRef], err
}

// Behind implements pulls.Layers.
func (l pullLayers) Behind(ctx context.Context, of pulls.Ref, at forge.PullRequest, base string) (pulls.Lag, error) {
	if err := l.fetched(ctx, of, at); err != nil {
		return pulls.Lag{}, err
	}
	m, err := l.repositories.At(ctx, of.Org, of.Repository, base)
	if err != nil {
		return pulls.Lag{}, err
	}
	from, err := m.MergeBase(ctx, base, at.Head)
	if err != nil || from == base {
		return pulls.Lag{}, repos.Explain(of.Repository, err)
	}
	var lag pulls.Lag
	if lag.Commits, err = m.Lacking(ctx, base, at.Head); err != nil {
		return pulls.Lag{}, repos.Explain(of.Repository, err)
	}
	if lag.Layers, err = l.Changed(ctx, of, at, from, base); err != nil {
		return pulls.Lag{}, err
	}
	merged, err := l.repositories.Merge(ctx, of.Org, of.Repository, base, at.Head, !at.Fork)
	lag.Apart = merged.Conflict
	return lag, err
}

// Changed implements pulls.Layers. The head was fetched. Without a commit to begin with, each layer differs.
func (l pullLayers) Changed(ctx context.Context, of pulls.Ref, at forge.PullRequest, from,
	base string) (map[string]string, error) {
	if from != "" {
		changed, err := l.layers.ChangedSince(ctx, of.Org, of.Repository, at.BaseRef, from, base, at.Head)
		if !errors.Is(err, layers.ErrApart) {
			return changed, err
		}
	}
	changed, err := l.layers.Definitions(ctx, of.Org, of.Repository, at.BaseRef)
	for name := range changed {
		changed[name] = "its history" // what that has changed can't be told
	}
	return changed, err
}

// Snapshot implements pulls.Layers.
func (l pullLayers) Snapshot(ctx context.Context, caller auth.Principal, of pulls.Ref, at forge.PullRequest, onto,
	layer string) (string, error) {
	if err := l.fetched(ctx, of, at); err != nil {
		return "", err
	}
	commit, said := at.Head, "commit "+at.Head
	if onto != "" {
		merged, err := l.repositories.Merge(ctx, of.Org, of.Repository, onto, at.Head, !at.Fork)
		if err != nil {
			return "", err
		}
		if merged.Conflict != "" {
			return "", fault.New(fault.CommitNotFound, "commit %s does not merge into %s: %s", at.Head, onto, merged.Conflict)
		}
		commit, said = merged.Commit, said+" merged into "+onto
	}
	from, to := io.Pipe()
	go func() {
		packed := gzip.NewWriter(to)
		err := l.layers.WriteAt(ctx, of.Org, layer, commit, packed)
		if err == nil {
			err = packed.Close()
		}
		_ = to.CloseWithError(err) // nil ends it
	}()
	made, err := l.workspaces.PushBeside(ctx, caller, state.Name(layer), from,
		fmt.Sprintf("%s, of pull request %d of %s", said, of.Number, of.Repository))
	_ = from.Close() // whoever writes still is told
	if err != nil {
		return "", err
	}
	return workspace.BesideName(made), nil
}

// Drop implements pulls.Layers.
func (l pullLayers) Drop(ctx context.Context, org uuid.UUID, layer, snapshot string) error {
	return l.workspaces.RemoveBeside(ctx, org, state.Name(layer), snapshot)
}

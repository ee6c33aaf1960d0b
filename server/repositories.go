package server

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/storage/sqlrepos"
)

// openRepositories opens the service of repositories, which stays nil where runs.storage is off, and has it fetch.
func (p *parts) openRepositories(ctx context.Context) {
	if p.database == nil {
		return
	}
	s := p.settings.Repositories
	p.repositories = repos.NewService(repos.Deps{
		Store: sqlrepos.New(p.database), Gate: p.gate, Seals: p.sealer,
		Deliver: p.workspaces.Deliver,
		Folder:  p.settings.RepositoryMirrors(), Allowed: s.Networks, AllowHTTP: s.AllowHTTP, CAFile: s.CAFile,
		Limits: repos.Limits{Workers: s.Workers, Git: gitmirror.Limits{Fetch: s.Timeout, Bytes: s.MaxBytes}},
		Now:    time.Now, Random: rand.Float64, Log: p.log,
	})
	if p.settings.Runs.Storage == configs.SQLite { // what is claimed was so by a process that was killed
		if err := p.repositories.Store.Release(ctx); err != nil {
			p.log.WarnContext(ctx, "repositories that were being fetched are fetched in two minutes", "error", err)
		}
	}
	p.closers = append(p.closers, sweepRegularly(ctx, p.repositories.Sweep, p.log))
}

// fetchRepositories has time go on for repositories, once all who want to be told of them have said so.
func (p *parts) fetchRepositories(ctx context.Context) {
	if p.repositories == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { p.repositories.Run(ctx) })
	p.closers = append(p.closers, func() {
		cancel()
		running.Wait()
	})
}

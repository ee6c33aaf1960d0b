package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// openSealed opens the database of workspaces and runs, and what encrypts it. Both stay nil where runs.storage is
// off. It comes before the states, whose keys are under the same master key: that is made where neither has anything.
func (p *parts) openSealed(ctx context.Context) (err error) {
	if err := storage.MakeFolder(p.settings); err != nil {
		return err
	}
	if p.database, err = storage.OpenRuns(ctx, p.settings, p.log); err != nil {
		return err
	}
	if p.database == nil {
		return p.newMasterIfNew(ctx)
	}
	p.closeLater("the database of workspaces and runs", p.database)
	keys := sqldb.NewKeys(p.database)
	master, err := p.openMaster(ctx, keys)
	if err != nil {
		return err
	}
	p.sealer = seal.New(master, keys)
	return nil
}

// openWorkspaces opens the service of workspaces, which stays nil where runs.storage is off.
func (p *parts) openWorkspaces(ctx context.Context) error {
	if p.database == nil {
		return nil
	}
	p.workspaceRuns = &workspaceRuns{store: sqlruns.New(p.database), log: p.log}
	p.workspaces = workspace.NewService(workspace.Deps{
		Store: sqlworkspace.New(p.database, p.sealer, time.Now), Gate: p.gate, Audit: p.live.Recorder(p.states),
		Seals: p.sealer,
		Runs:  p.workspaceRuns, Limits: workspace.Limits{StoredBytes: p.settings.Runs.MaxConfigBytes}, Memory: p.memory,
		Now: time.Now, Log: p.log,
	})
	p.closers = append(p.closers, sweepRegularly(ctx, p.workspaces.Sweep, p.log))
	return nil
}

// openMaster reads the master key file. Where nothing is encrypted yet it makes one that is
// missing; else a new one would only hide that the one which opens everything is gone.
func (p *parts) openMaster(ctx context.Context, keys *sqldb.Keys) (*seal.Master, error) {
	if ownMaster(p.settings) {
		return seal.NewMaster(), nil
	}
	path := p.settings.MasterKeyPath()
	p.removeLeftMasters(ctx, path)
	master, err := storage.ReadMaster(ctx, p.settings)
	if !errors.Is(err, fs.ErrNotExist) {
		return master, err
	}
	used, failed := keys.Any(ctx)
	if failed == nil && !used {
		used, failed = p.hasStates()
	}
	if failed != nil {
		return nil, failed
	}
	if used {
		return nil, fmt.Errorf("the master key file is missing, and what is kept encrypted can't be read without it: bring "+
			"back %s, or say in seal.master_key_file where it is: %w", path, err)
	}
	if err := p.createMaster(ctx, path); err != nil {
		return nil, err
	}
	return storage.ReadMaster(ctx, p.settings)
}

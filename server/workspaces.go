package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// openWorkspaces opens the database of workspaces and runs, what encrypts it, and the service of
// workspaces. All three stay nil where runs.storage is off.
func (p *parts) openWorkspaces(ctx context.Context) (err error) {
	if p.database, err = storage.OpenRuns(ctx, p.settings, p.log); err != nil || p.database == nil {
		return err
	}
	p.closeLater("the database of workspaces and runs", p.database)
	keys := sqldb.NewKeys(p.database)
	master, err := p.openMaster(ctx, keys)
	if err != nil {
		return err
	}
	p.sealer = seal.New(master, keys)
	p.workspaceRuns = &workspaceRuns{store: sqlruns.New(p.database), log: p.log}
	p.workspaces = workspace.NewService(workspace.Deps{
		Store: sqlworkspace.New(p.database, p.sealer, time.Now), Gate: p.gate, Audit: p.live.Recorder(p.states), Seals: p.sealer,
		Runs: p.workspaceRuns, Limits: workspace.Limits{StoredBytes: p.settings.Runs.MaxConfigBytes}, Memory: p.memory, Now: time.Now, Log: p.log,
	})
	p.closers = append(p.closers, sweepRegularly(ctx, p.workspaces.Sweep, p.log))
	return nil
}

// openMaster reads the master key file. Where nothing is encrypted yet it makes one that is
// missing; else a new one would only hide that the one which opens everything is gone.
func (p *parts) openMaster(ctx context.Context, keys *sqldb.Keys) (*seal.Master, error) {
	if p.settings.State.Storage == configs.Memory && p.settings.Runs.Storage == configs.SQLite {
		return seal.NewMaster(), nil
	}
	path := p.settings.MasterKeyPath()
	master, err := seal.ReadMasterFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return master, err
	}
	used, failed := keys.Any(ctx)
	if failed != nil {
		return nil, failed
	}
	if used {
		return nil, fmt.Errorf("the master key file is missing, and what is kept encrypted can't be read without it: bring back %s, or say in seal.master_key_file where it is: %w", path, err)
	}
	if err := seal.CreateMasterFile(path); err != nil {
		return nil, fmt.Errorf("make the master key file: %w", err)
	}
	p.log.WarnContext(ctx, "made a master key file; keep a copy of it apart from copies of the data: if it is lost, variables, configurations, plans and logs are lost too", "path", path)
	return seal.ReadMasterFile(path)
}

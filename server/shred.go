package server

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/internal/shred"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// startShredder begins, in the background, to destroy what there is of organizations that were
// removed with their data. Nobody is let in for them from now on.
func (p *parts) startShredder(ctx context.Context) {
	shredder := shred.New(shred.Config{
		Orders: p.orders, Replaced: p.watcher.Replaced, Doors: p.doors, Parts: p.shredded(),
		Receipts: p.receipts, Log: p.log, Now: time.Now,
	})
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		shredder.Run(ctx)
	}()
	p.closers = append(p.closers, func() {
		cancel()
		<-ended
	})
}

// orders are what the auth file says.
func (p *parts) orders() (all []shred.Order) {
	for _, s := range p.watcher.Shreddings() {
		all = append(all, shred.Order{Org: s.ID, Name: s.Name, At: s.At})
	}
	return all
}

// shredded are all that have something of organizations: first what keys of agents and of sealed things
// are in, and the index behind what it is made from.
func (p *parts) shredded() (all []shred.Part) {
	folders := runFolders{work: p.settings.RunsWork()}
	if p.database != nil {
		folders.runs = sqlruns.New(p.database)
		all = append(all,
			shred.Part{What: "files_of_runs", Store: keptFiles{folders}},
			shred.Part{What: "workspaces_and_runs", Store: sealedData{p.database, p.sealer}},
			shred.Part{What: "grants_of_pools", Store: lentPools{folders.runs}})
	}
	return append(all,
		shred.Part{What: "run_folders", Store: folders},
		shred.Part{What: "notices", Store: p.notifier}, // one that is given up meanwhile is an event of the states
		shred.Part{What: "states", Store: p.states},
		shred.Part{What: "uploads", Store: p.uploads},
		shred.Part{What: "resources", Store: p.catalogue.indexer},
		shred.Part{What: "uses_of_keys", Store: p.uses},
		shred.Part{What: "copies_of_doctor", Store: doctorsCopies{p.settings}},
		shred.Part{What: "master_keys", Store: masterKeys{p}}) // last: a key service may be away
}

// isShredded reports whether the auth file says that an organization was removed with its data.
func (p *parts) isShredded(org string) bool {
	return slices.ContainsFunc(p.watcher.Shreddings(), func(s authfile.Shredding) bool { return s.ID.String() == org })
}

// runFolders are what the server's own executor has on the disk.
type runFolders struct {
	work string
	runs runs.Store
}

// How long the end of runs that go on is waited for at a time, and how often it is looked at.
const (
	endPatience = 10 * time.Second
	endInterval = 200 * time.Millisecond
)

// Shred implements shred.Store. The executor hears from its next sign of life on that a run is gone,
// ends its commands, and clears its folder: an apply is asked to end, and not killed.
func (f runFolders) Shred(ctx context.Context, org uuid.UUID, _ int) (int, error) {
	for deadline := time.Now().Add(endPatience); ; {
		left, err := agent.LeftOf(f.work, org.String())
		if err != nil || len(left) == 0 {
			return 0, err
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("%d runs that the server executes have not ended yet", len(left))
		}
		if err := pause.For(ctx, endInterval); err != nil {
			return 0, err
		}
	}
}

// keptFiles are what it has kept of runs beside their folders. It goes while it can be told whose the
// runs were.
type keptFiles struct{ runFolders }

// Shred implements shred.Store.
func (f keptFiles) Shred(ctx context.Context, org uuid.UUID, _ int) (int, error) {
	return agent.RemoveKept(f.work, func(run string) (bool, error) {
		_, err := f.runs.Run(ctx, runs.Ref{Org: org, ID: run})
		if fault.Is(err, fault.RunNotFound) {
			return false, nil
		}
		return err == nil, err
	})
}

// sealedData is the database of workspaces and runs, with who remembers the keys of what is in it.
type sealedData struct {
	*sqldb.DB
	sealer *seal.Sealer
}

// Shred implements shred.Store.
func (s sealedData) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	removed, err := s.DB.Shred(ctx, org, limit)
	s.sealer.Forget(org)
	return removed, err
}

// doctorsCopies are those that `holdfast doctor` reads, of all that is in the store's folder.
type doctorsCopies struct{ settings configs.Settings }

// removeLeft removes those that were left by a doctor that was killed, and says how many are used.
func (d doctorsCopies) removeLeft() (used int, err error) {
	if keepsNothing(d.settings) {
		return 0, nil
	}
	return folder.RemoveCopies(d.settings.Storage.Path)
}

// Shred implements shred.Store.
func (d doctorsCopies) Shred(context.Context, uuid.UUID, int) (int, error) {
	used, err := d.removeLeft()
	if err == nil && used > 0 {
		err = fmt.Errorf("`holdfast doctor` still reads a copy (%d folders .doctor-*)", used)
	}
	return 0, err
}

// lentPools are what others lend to an organization: whoever has its ID next is lent nothing.
type lentPools struct{ runs runs.Store }

// Shred implements shred.Store.
func (l lentPools) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	return l.runs.EndGrants(ctx, org, limit)
}

func receiptsOf(settings configs.Settings) shred.Receipts {
	if keepsNothing(settings) {
		return &shred.Remembered{}
	}
	return ShredReceipts(settings)
}

// ShredReceipts is where a server with these settings writes down whose data it has destroyed.
func ShredReceipts(settings configs.Settings) shred.Folder {
	return shred.Folder(filepath.Join(settings.Storage.Path, shred.FolderName))
}

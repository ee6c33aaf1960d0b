package server

import (
	"context"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/shred"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// startShredder begins, in the background, to destroy what there is of organizations that were
// removed with their data. Nobody is let in for them from now on.
func (p *parts) startShredder(ctx context.Context) {
	shredder := shred.New(shred.Config{
		Orders: p.orders, Replaced: p.watcher.Replaced, Doors: p.doors, Parts: p.shredded(),
		Receipts: receiptsOf(p.settings), Log: p.log, Now: time.Now,
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
	if p.database != nil {
		all = append(all, shred.Part{What: "workspaces_and_runs", Store: sealedData{p.database, p.sealer}})
	}
	return append(all,
		shred.Part{What: "states", Store: p.states},
		shred.Part{What: "uploads", Store: p.uploads},
		shred.Part{What: "resources", Store: p.catalogue.indexer},
		shred.Part{What: "uses_of_keys", Store: p.uses})
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

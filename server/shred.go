package server

import (
	"context"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/shred"
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

// shredded are all that have something of organizations.
func (p *parts) shredded() []shred.Part {
	return []shred.Part{
		{What: "states", Store: p.states},
	}
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

package csv

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/inventory"
)

const (
	remembered = inventory.RememberFor
	pruneEvery = time.Minute
	prunePiece = 500 // batches that one transaction forgets
)

// pruner forgets old batches in the background.
type pruner struct {
	quit chan struct{}
	done sync.WaitGroup
}

func (p *pruner) start(s *Store) {
	p.quit = make(chan struct{})
	p.done.Go(func() {
		tick := time.NewTicker(pruneEvery)
		defer tick.Stop()
		for {
			s.prune(p.quit)
			select {
			case <-p.quit:
				return
			case <-tick.C:
			}
		}
	})
}

func (p *pruner) stop() {
	close(p.quit)
	p.done.Wait()
}

// prune forgets what is old enough, in pieces between which uploads have their turn.
func (s *Store) prune(quit <-chan struct{}) {
	for {
		select {
		case <-quit:
			return
		default:
		}
		n, err := s.index.Prune(s.now().Add(-remembered).UnixMicro(), prunePiece)
		if err != nil {
			s.log.Warn("old uploads not forgotten", "err", err)
		}
		if err != nil || n < prunePiece {
			return
		}
	}
}

package sqluploads

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/inventory"
)

const (
	// remembered is how long a batch's ID is known.
	remembered = inventory.RememberFor
	// pruneFirst is the most that passes before the first round. Nodes that start together
	// don't begin together.
	pruneFirst = 10 * time.Minute
	// pruneEvery is the time between two rounds, pruneRows what one statement deletes, and
	// prunePause the time between two statements.
	pruneEvery = time.Hour
	pruneRows  = 500
	prunePause = 50 * time.Millisecond
)

// pruneNowAndThen forgets batches until ctx ends.
func (s *Store) pruneNowAndThen(ctx context.Context) {
	for next := rand.N(pruneFirst); pause.For(ctx, next) == nil; next = pruneEvery {
		if s.server.Load() == nil {
			continue
		}
		if err := s.prune(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "old batches were not forgotten; trying again later", "error", err, "next", pruneEvery)
		}
	}
}

// prune forgets batches in small pieces, as no upload should wait for it. Several nodes
// may do so at once.
func (s *Store) prune(ctx context.Context) error {
	before := s.now().UTC().Add(-remembered)
	for {
		n, err := s.forget(ctx, before)
		if err != nil || n < pruneRows {
			return err
		}
		_ = pause.For(ctx, prunePause)
	}
}

func (s *Store) forget(ctx context.Context, before time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	result, err := s.db.ExecContext(ctx, s.speaks().DeleteSome("inventory_batches", "org, id", "created < ?", "created"),
		before, pruneRows)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

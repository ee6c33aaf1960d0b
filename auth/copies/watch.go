package copies

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/holdfast/holdfast/internal/follow"
)

// Config sets up a Watch.
type Config struct {
	Board Board
	Own   func() Copy // what is in force here now
	Log   *slog.Logger
}

// Watch says on a board what this node has in force, and looks whether others have something newer.
type Watch struct {
	Config
	follower *follow.Follower

	mu    sync.Mutex
	stale string
	away  bool
}

// New begins to do that every few seconds, until Close.
func New(ctx context.Context, c Config) *Watch {
	w := &Watch{Config: c}
	w.Now(ctx)
	w.follower = follow.WriteEvery(context.WithoutCancel(ctx), interval, w.Now)
	return w
}

// Now does it now. What fails is logged when it begins to.
func (w *Watch) Now(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := w.Own()
	all, err := w.exchange(ctx, own)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if !w.away {
			w.Log.WarnContext(ctx, "other nodes can't be told which auth.cfg is in force here, nor asked for theirs; trying again", "error", err)
		}
		w.away = true
		return
	}
	w.away = false
	had := w.stale
	if w.stale = older(own, all); w.stale != "" && had == "" {
		w.Log.WarnContext(ctx, "another node has a newer auth.cfg in force", "how", w.stale)
	}
}

func (w *Watch) exchange(ctx context.Context, own Copy) ([]Copy, error) {
	if err := w.Board.Post(ctx, own); err != nil {
		return nil, err
	}
	return w.Board.Copies(ctx)
}

// Stale says in words that another node has a newer copy in force, or that nobody knows; empty
// when none has.
func (w *Watch) Stale() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away {
		return "the database is away in which other nodes say which auth.cfg they have in force"
	}
	return w.stale
}

// Close stops, and has nobody wait for this node any more.
func (w *Watch) Close() error {
	err := w.follower.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return errors.Join(err, w.Board.Withdraw(ctx, w.Own().Node))
}

// Await returns when all nodes that run have at least this revision in force; names are of those
// that had not when ctx ended.
func Await(ctx context.Context, board Board, revision uint64, pause func(context.Context, time.Duration) error) (late []string, err error) {
	for {
		all, err := board.Copies(ctx)
		if err != nil {
			return late, err
		}
		late = late[:0]
		for _, c := range all {
			if c.Revision > 0 && c.Revision < revision {
				late = append(late, c.Name)
			}
		}
		if len(late) == 0 {
			return nil, nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return late, err
		}
	}
}

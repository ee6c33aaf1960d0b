package copies

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
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
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	stale string
	away  bool
}

// New begins to do that every few seconds, until Close.
func New(ctx context.Context, c Config) *Watch {
	w := &Watch{Config: c, wake: make(chan struct{}, 1), done: make(chan struct{})}
	ctx = context.WithoutCancel(ctx) // requests go on after a signal
	w.exchange(ctx)
	ctx, w.stop = context.WithCancel(ctx)
	go w.run(ctx)
	return w
}

// Soon has it done without waiting for its time: what is in force has changed. It waits for nothing.
func (w *Watch) Soon() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watch) run(ctx context.Context) {
	defer close(w.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-w.wake:
		}
		w.exchange(ctx)
	}
}

// exchange does it once. What fails is logged when it begins to.
func (w *Watch) exchange(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := w.Own()
	err := w.Board.Post(ctx, own)
	var all []Copy
	if err == nil {
		all, err = w.Board.Copies(ctx)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return // it stops
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if !w.away {
			w.Log.WarnContext(ctx, "other nodes can't be told which auth.cfg is in force here, nor asked for theirs; "+
				"trying again", "error", err)
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
	w.stop()
	<-w.done
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.Board.Withdraw(ctx, w.Own().Node)
}

// Await returns when all nodes that run have at least this revision in force; late are those that had not
// when ctx ended. Silent are those of which nobody knows: they were not heard of for a while, have an older
// one in force if they run, and never said that they stop.
func Await(ctx context.Context, board Board, revision uint64) (late, silent []string, err error) {
	for {
		all, err := board.Copies(ctx)
		if err != nil {
			return late, silent, err
		}
		late, silent = late[:0], silent[:0]
		for _, c := range all {
			switch {
			case !c.Unproven && (c.Revision == 0 || c.Revision >= revision):
			case c.Silent > Gone:
				silent = append(silent, c.Name)
			default:
				late = append(late, c.Name)
			}
		}
		if len(late) == 0 {
			return nil, silent, nil
		}
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			return late, silent, err
		}
	}
}

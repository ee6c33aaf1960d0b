package sqluploads

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/inventory"
)

// Store is an inventory.Store in a database of MySQL's or PostgreSQL's.
type Store struct {
	engine engine
	db     *sql.DB
	log    *slog.Logger
	now    func() time.Time
	server atomic.Pointer[server] // nil until the server was up for the first time
	queues queues
	turns  *turns.Turns // for connections
	probe  probe

	// mu guards closed. Calls add to begun and background work to spawned while it is
	// open, so that Close waits for the one and ends the other.
	mu      sync.Mutex
	closed  bool
	begun   sync.WaitGroup
	spawned sync.WaitGroup
	ctx     context.Context // of the background work
	cancel  context.CancelFunc
}

var _ inventory.Store = (*Store)(nil)

func newStore(e engine, db *sql.DB, now func() time.Time) *Store {
	s := &Store{engine: e, db: db, log: e.log(), now: now,
		turns: newTurns(db.Stats().MaxOpenConnections)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.spawn(s.pruneNowAndThen)
	return s
}

// begin notes that a call has begun, which end must follow, and returns the server.
func (s *Store) begin() (*server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed()
	}
	found := s.server.Load()
	if found == nil {
		return nil, errNotUp()
	}
	s.begun.Add(1)
	return found, nil
}

func (s *Store) speaks() dialect { return s.engine.dialect() }

func (s *Store) end() { s.begun.Done() }

// spawn runs work until it returns; its context ends when the store is closed.
func (s *Store) spawn(work func(ctx context.Context)) {
	s.spawned.Go(func() { work(s.ctx) })
}

// Close implements inventory.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.begun.Wait()
	s.cancel()
	s.spawned.Wait()
	return s.db.Close()
}

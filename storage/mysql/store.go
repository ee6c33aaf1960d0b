package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
)

// organizationsPage is how many organizations are read at once.
const organizationsPage = 500

// Store is an inventory.Store in a MySQL-protocol database.
type Store struct {
	options Options
	db      *sql.DB
	log     *slog.Logger
	now     func() time.Time
	server  atomic.Pointer[server] // nil until the server was up for the first time
	queues  queues
	probe   probe

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

func newStore(o Options, db *sql.DB) *Store {
	s := &Store{options: o, db: db, log: o.Log, now: o.Now}
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
		return nil, unavailable(errors.New("it was not up since this process started"))
	}
	s.begun.Add(1)
	return found, nil
}

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

// Summary implements inventory.Store.
func (s *Store) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	if _, err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	groups, err := again(ctx, func(ctx context.Context) ([]inventory.Group, error) { return readGroups(ctx, s.db, org) })
	slices.SortFunc(groups, func(a, b inventory.Group) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Category, b.Category), cmp.Compare(a.ResourceType, b.ResourceType))
	})
	return groups, err
}

func readGroups(ctx context.Context, db querier, org uuid.UUID) ([]inventory.Group, error) {
	return list(ctx, db, func(g *inventory.Group) []any {
		return []any{&g.Provider, &g.Category, &g.ResourceType, &g.Count, &g.First, &g.Last}
	}, "SELECT provider, category, resource_type, records, first_at, last_at FROM inventory_groups WHERE org = ?", org.String())
}

// Organizations implements inventory.Store.
func (s *Store) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		for after := ""; ; {
			page, err := s.organizationsAfter(ctx, after)
			if err != nil {
				yield(uuid.Nil, err)
				return
			}
			for _, org := range page {
				if !yield(org, nil) {
					return
				}
			}
			if len(page) < organizationsPage {
				return
			}
			after = page[len(page)-1].String()
		}
	}
}

func (s *Store) organizationsAfter(ctx context.Context, after string) ([]uuid.UUID, error) {
	if _, err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	return again(ctx, func(ctx context.Context) ([]uuid.UUID, error) {
		return list(ctx, s.db, func(org *uuid.UUID) []any { return []any{org} },
			"SELECT org FROM inventory_organizations WHERE org > ? AND newest IS NOT NULL ORDER BY org LIMIT ?", after, organizationsPage)
	})
}

// list scans every row into a T.
func list[T any](ctx context.Context, db querier, fields func(*T) []any, query string, args ...any) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// again reads, and once more when the connection was lost meanwhile: after the server was
// restarted nobody need notice.
func again[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	found, err := bounded(ctx, read)
	if err != nil && isAway(err) && ctx.Err() == nil {
		found, err = bounded(ctx, read)
	}
	if ctx.Err() != nil && err != nil {
		return found, ctx.Err()
	}
	return found, storeError(err)
}

// bounded gives a read the time that it may take at most.
func bounded[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return read(ctx)
}

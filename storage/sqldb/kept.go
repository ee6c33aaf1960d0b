package sqldb

import (
	"context"
	"database/sql"
	"strings"
	"sync"
)

// kept are statements that stay prepared for a pool of readers: those whose texts come first. To make one anew
// takes several times as long as to look a row up by its key. Texts that grow with what is asked for are many, and
// each takes memory on each connection: they are not kept.
type kept struct {
	db *sql.DB

	mu    sync.Mutex
	known map[string]*sql.Stmt
}

func newKept(db *sql.DB) *kept { return &kept{db: db, known: map[string]*sql.Stmt{}} }

// of returns the statement of a text; nil for one that is not kept, or can't be prepared, as who runs it finds out.
func (k *kept) of(ctx context.Context, query string) *sql.Stmt {
	if len(query) > keptBytes || strings.Count(query, "?") > keptPlaces {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.known[query]; ok {
		return s
	}
	if len(k.known) >= keptStatements {
		return nil
	}
	s, err := k.db.PrepareContext(ctx, query)
	if err != nil {
		return nil
	}
	k.known[query] = s
	return s
}

// asking asks statements in no transaction, each on any connection of the pool.
type asking struct {
	ctx  context.Context
	kept *kept
}

func (asking) Dialect() Dialect { return SQLite }

func (a asking) Query(query string, args ...any) (*sql.Rows, error) {
	if s := a.kept.of(a.ctx, query); s != nil {
		return s.QueryContext(a.ctx, args...)
	}
	return a.kept.db.QueryContext(a.ctx, query, args...)
}

func (a asking) QueryRow(query string, args ...any) *sql.Row {
	if s := a.kept.of(a.ctx, query); s != nil {
		return s.QueryRowContext(a.ctx, args...)
	}
	return a.kept.db.QueryRowContext(a.ctx, query, args...)
}

package sqluploads

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/pause"
)

// shredPause is how often Shred looks whether appends that have begun are done.
const shredPause = 20 * time.Millisecond

// Shred implements inventory.Store. The organization's own table goes in one piece, which is what a
// server does fastest; what the server's logs and backups have of it stays there. On each node it
// waits for that node's appends.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if _, err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	for s.queues.has(org) {
		if err := pause.For(ctx, shredPause); err != nil {
			return 0, err
		}
	}
	release, err := s.turns.Acquire(ctx, org)
	if err != nil {
		return 0, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	removed, err = s.shred(ctx, org, limit)
	return removed, s.fault(err)
}

// has reports whether entries wait in the organization's line, or are being recorded.
func (q *queues) has(org uuid.UUID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok := q.lines[org]
	return ok
}

// shred removes a piece of the first thing that has something of the organization. That there is such
// an organization goes first: it waits for the transactions of other nodes.
func (s *Store) shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if removed, err = s.deleteSome(ctx, "inventory_organizations", "org", org, limit); err != nil || removed > 0 {
		return removed, err
	}
	var tables int
	err = s.db.QueryRowContext(ctx, s.speaks().hasTable(), tableOf(org)).Scan(&tables)
	if err != nil {
		return 0, err
	}
	if tables > 0 {
		_, err := s.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+tableOf(org))
		return tables, err
	}
	for _, table := range [][2]string{
		{"inventory_batches", "org, id"}, {"inventory_groups", "org, names"}, {"inventory_usage", "org"},
	} {
		if removed, err = s.deleteSome(ctx, table[0], table[1], org, limit); err != nil || removed > 0 {
			return removed, err
		}
	}
	return 0, nil
}

func (s *Store) deleteSome(ctx context.Context, table, key string, org uuid.UUID, limit int) (int, error) {
	result, err := s.db.ExecContext(ctx, s.speaks().DeleteSome(table, key, "org = ?", key), org.String(), limit)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

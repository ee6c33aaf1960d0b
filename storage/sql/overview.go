package sqluploads

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// organizationsPage is how many organizations are read at once.
const organizationsPage = 500

// Summary implements inventory.Store.
func (s *Store) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	if _, err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	groups, err := readInTurn(ctx, s, org,
		func(ctx context.Context) ([]inventory.Group, error) { return readGroups(ctx, s.db, org) })
	slices.SortFunc(groups, func(a, b inventory.Group) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Category, b.Category),
			cmp.Compare(a.ResourceType, b.ResourceType))
	})
	return groups, err
}

func readGroups(ctx context.Context, db querier, org uuid.UUID) ([]inventory.Group, error) {
	return list(ctx, db, func(g *inventory.Group) []any {
		return []any{&g.Provider, &g.Category, &g.ResourceType, &g.Count, &g.First, &g.Last}
	}, "SELECT provider, category, resource_type, records, first_at, last_at FROM inventory_groups WHERE org = ?",
		org.String())
}

// Recorded implements inventory.Store.
func (s *Store) Recorded(ctx context.Context, org uuid.UUID, id string) (inventory.Remembered, bool, error) {
	if _, err := s.begin(); err != nil {
		return inventory.Remembered{}, false, err
	}
	defer s.end()
	if !inventory.IsID(id) {
		return inventory.Remembered{}, false, nil
	}
	found, err := readInTurn(ctx, s, org,
		func(ctx context.Context) (map[string]filed, error) { return lookUp(ctx, s.db, org, id) })
	f, ok := found[id]
	if err != nil || !ok {
		return inventory.Remembered{}, false, err
	}
	f.receipt.Replayed = true
	return inventory.Remembered{Receipt: f.receipt, Digest: f.digest}, true, nil
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
	return again(ctx, s.engine, func(ctx context.Context) ([]uuid.UUID, error) {
		return list(ctx, s.db, func(org *uuid.UUID) []any { return []any{org} },
			"SELECT org FROM inventory_organizations o WHERE org > ? AND EXISTS "+
				"(SELECT 1 FROM inventory_groups g WHERE g.org = o.org) ORDER BY org LIMIT ?", after, organizationsPage)
	})
}

// list scans every row into a T.
func list[T any](ctx context.Context, db querier, fields func(*T) []any, query string,
	args ...any) (all []T, err error) {
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
func again[T any](ctx context.Context, e engine, read func(context.Context) (T, error)) (T, error) {
	found, err := bounded(ctx, read)
	if err != nil && e.dialect().IsAway(err) && ctx.Err() == nil {
		found, err = bounded(ctx, read)
	}
	if ctx.Err() != nil && err != nil {
		return found, ctx.Err()
	}
	return found, e.fault(err)
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

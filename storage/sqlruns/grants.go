package sqlruns

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// EndGrants implements runs.Store. Each pool is changed in a transaction of its owner's.
func (s *Store) EndGrants(ctx context.Context, to uuid.UUID, limit int) (pools int, err error) {
	// Pools that may be lent to the organization: only what is in their JSON says so.
	found, err := ask(ctx, s, uuid.Nil, scanJSON[runs.Pool], "SELECT body FROM run_pools WHERE org <> ? AND "+
		s.db.Dialect().Contains("body"), to.String(), []byte(to.String()))
	for _, pool := range found {
		if err != nil || pools == limit {
			break
		}
		var ended bool
		if ended, err = s.endGrant(ctx, pool, to); ended {
			pools++
		}
	}
	return pools, err
}

// endGrant changes the pool as it is by now, if it names the organization still.
func (s *Store) endGrant(ctx context.Context, found runs.Pool, to uuid.UUID) (ended bool, err error) {
	err = s.write(ctx, runs.Ref{Org: found.Org}, 0, func(t tx) error {
		ended = false
		have, err := sqldb.All(t, scanJSON[runs.Pool], poolsOf, t.org)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(have, func(p runs.Pool) bool { return p.Name == found.Name })
		if i < 0 {
			return nil
		}
		pool := have[i]
		pool.Grants = slices.DeleteFunc(pool.Grants, func(g runs.PoolGrant) bool { return g.Org == to })
		pool.Former = slices.DeleteFunc(pool.Former, func(org uuid.UUID) bool { return org == to })
		if len(pool.Grants) == len(have[i].Grants) && len(pool.Former) == len(have[i].Former) {
			return nil // it was lent by that one, say
		}
		ended = true
		return t.putPool(pool)
	})
	return ended && err == nil, err
}

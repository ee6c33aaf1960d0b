package states

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlChain     = `SELECT ` + stateengine.ChainNames + ` FROM state_chains WHERE org = ?`
	sqlChainsOf  = `SELECT ` + stateengine.ChainNames + ` FROM state_chains WHERE org IN `
	sqlSetChains = `INSERT INTO state_chains (` + stateengine.ChainNames + `) VALUES `
	sqlAddLinks  = `INSERT INTO state_links (sequence, place, hash) VALUES `
	sqlLogEnd    = `SELECT sequence FROM state_log WHERE id = 1`
	linksFrom    = `SELECT ` + stateengine.LinkColumns + ` FROM state_events`
	linksOf      = ` LEFT JOIN state_links USING (sequence) WHERE org = ? AND sequence >= ? AND sequence <= ? ORDER BY sequence LIMIT ?`
)

func (d dialect) links() string { return linksFrom + d.index("orgs") + linksOf }

// linker chains events, in the order of their sequences, in a transaction that has the log locked: it is
// there that they get their sequences and their times, and nobody else who writes waits for it.
type linker struct {
	events []audit.Event
}

// add takes in an event. Those of no organization are in no chain.
func (l *linker) add(e audit.Event) {
	if e.Org != uuid.Nil {
		l.events = append(l.events, e)
	}
}

// write chains the events that were taken in.
func (l *linker) write(t *tx) error {
	if len(l.events) == 0 {
		return nil
	}
	chains, err := t.chainsOf(l.orgs())
	if err != nil {
		return err
	}
	var links, heads []any
	for _, e := range l.events {
		c := chains[e.Org].Begun().Next(e)
		chains[e.Org] = c
		links = append(links, int64(e.Sequence), int64(c.Place), c.Head.Hash[:])
	}
	if err := t.Later(sqlAddLinks+tuples(len(links)/3, 3)+t.sql.OrSet("sequence", "place", "hash"), links...); err != nil {
		return err
	}
	for _, org := range l.orgs() {
		heads = append(heads, stateengine.ChainValues(org, chains[org])...)
	}
	return t.Later(sqlSetChains+tuples(len(chains), 6)+t.sql.OrSet("org", "sequence", "place", "hash"), heads...)
}

// orgs are those of the events, in an order.
func (l *linker) orgs() []uuid.UUID {
	orgs := map[uuid.UUID]bool{}
	for _, e := range l.events {
		orgs[e.Org] = true
	}
	return slices.SortedFunc(maps.Keys(orgs), func(a, b uuid.UUID) int { return cmp.Compare(a.String(), b.String()) })
}

// chainsOf reads chains, of which the log's lock keeps others away.
func (t *tx) chainsOf(orgs []uuid.UUID) (chains map[uuid.UUID]audit.Chain, err error) {
	args := make([]any, len(orgs))
	for i, org := range orgs {
		args[i] = org.String()
	}
	rows, err := t.Query(sqlChainsOf+tuple(len(orgs))+` FOR UPDATE`, args...)
	if err != nil {
		return nil, err
	}
	chains = map[uuid.UUID]audit.Chain{}
	return chains, stateengine.Each(rows, func(scan stateengine.Scan) (one chainOf, err error) {
		one.org, one.chain, err = stateengine.ScanChain(scan)
		return one, err
	}, func(one chainOf) bool {
		chains[one.org] = one.chain
		return true
	})
}

// chainOf is a row of state_chains.
type chainOf struct {
	org   uuid.UUID
	chain audit.Chain
}

// Chain implements state.Store. The head is read first: all entries up to it are there by then. How far
// the log has come is read before it: where there is no chain, there is nothing up to that.
func (s *Store) Chain(ctx context.Context, org uuid.UUID, from uint64,
	limit int) (chain audit.Chain, links []audit.Link, err error) {
	if err := s.inLog(ctx); err != nil {
		return audit.Chain{}, nil, err
	}
	if org == uuid.Nil {
		return audit.Chain{}, nil, ctx.Err()
	}
	err = s.list(ctx, org, func(ctx context.Context, db querier) error {
		read := func() error { chain, links, err = s.chainIn(ctx, db, org, from, limit); return err }
		removed, err := stateengine.Steady(func() (audit.Checkpoint, error) {
			return stateengine.ScanCheckpoint(db.QueryRowContext(ctx, sqlCheckpoint, org.String()).Scan)
		}, read)
		chain.Removed = removed
		return err
	})
	return chain, links, err
}

// chainIn reads a part of a chain as it is in the database.
func (s *Store) chainIn(ctx context.Context, db querier, org uuid.UUID, from uint64,
	limit int) (chain audit.Chain, links []audit.Link, err error) {
	var high int64
	if err := db.QueryRowContext(ctx, sqlLogEnd).Scan(&high); errors.Is(err, sql.ErrNoRows) {
		return chain, nil, errNoLog()
	} else if err != nil {
		return chain, nil, err
	}
	if err := each(ctx, db, func(scan stateengine.Scan) (c audit.Chain, err error) {
		_, c, err = stateengine.ScanChain(scan)
		return c, err
	}, func(c audit.Chain) bool {
		chain = c
		return true
	}, sqlChain, org.String()); err != nil {
		return chain, nil, err
	}
	if chain.Place > 0 {
		high = stateengine.Key(chain.Head.Sequence)
	}
	err = each(ctx, db, stateengine.ScanLink, func(l audit.Link) bool {
		links = append(links, l)
		return true
	}, s.sql.links(), org.String(), stateengine.Key(from), high, limit)
	return chain, links, err
}

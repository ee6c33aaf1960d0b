package mysqlstates

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
	sqlNewHeads  = ` ON DUPLICATE KEY UPDATE sequence = VALUES(sequence), place = VALUES(place), hash = VALUES(hash)`
	sqlAddLinks  = `INSERT INTO state_links (sequence, place, hash) VALUES `
	sqlNewLinks  = ` ON DUPLICATE KEY UPDATE place = VALUES(place), hash = VALUES(hash)`
	sqlChained   = `UPDATE state_chained SET sequence = ? WHERE id = 1`
	sqlUnchained = `SELECT hash IS NOT NULL, ` + stateengine.EventColumns + ` FROM state_events LEFT JOIN state_links USING (sequence)
		WHERE sequence > ? ORDER BY sequence LIMIT ?`
	sqlBegan = `SELECT sequence, began FROM state_chained WHERE id = 1`
	sqlLinks = `SELECT ` + stateengine.LinkColumns + ` FROM state_events FORCE INDEX (orgs) LEFT JOIN state_links USING (sequence)
		WHERE org = ? AND sequence >= ? AND sequence <= ? ORDER BY sequence LIMIT ?`
)

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

// write chains the events that were taken in, of which last is the log's last.
func (l *linker) write(t *tx, last int64) error {
	if len(l.events) > 0 {
		if err := l.link(t); err != nil {
			return err
		}
	}
	return t.later(sqlChained, last)
}

func (l *linker) link(t *tx) error {
	chains, err := t.chainsOf(l.orgs())
	if err != nil {
		return err
	}
	var links, heads []any
	for _, e := range l.events {
		if e.Sequence <= chains[e.Org].Head.Sequence {
			continue // its link was taken away, which is to show
		}
		c := chains[e.Org].Begun().Next(e)
		chains[e.Org] = c
		links = append(links, int64(e.Sequence), int64(c.Place), c.Head.Hash[:])
	}
	if len(links) == 0 {
		return nil
	}
	if err := t.later(sqlAddLinks+tuples(len(links)/3, 3)+sqlNewLinks, links...); err != nil {
		return err
	}
	for _, org := range l.orgs() {
		heads = append(heads, stateengine.ChainValues(org, chains[org])...)
	}
	return t.later(sqlSetChains+tuples(len(chains), 6)+sqlNewHeads, heads...)
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
	rows, err := t.query(sqlChainsOf+tuple(len(orgs))+` FOR UPDATE`, args...)
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

// catchUp chains some of what a node of an older version has put into the log, which knows of no chains.
// What has a link keeps it.
func (t *tx) catchUp(chained, newest int64) error {
	rows, err := t.query(sqlUnchained, chained, moveRows)
	if err != nil {
		return err
	}
	var l linker
	read := 0
	if err := stateengine.Each(rows, scanUnchained, func(u unchained) bool {
		if !u.linked {
			l.add(u.event)
		}
		chained, read = int64(u.event.Sequence), read+1
		return true
	}); err != nil {
		return err
	}
	if read < moveRows {
		chained = newest
	}
	return l.write(t, chained)
}

// unchained is a row of sqlUnchained.
type unchained struct {
	linked bool
	event  audit.Event
}

func scanUnchained(scan stateengine.Scan) (u unchained, err error) {
	u.event, err = stateengine.ScanEvent(func(fields ...any) error { return scan(append([]any{&u.linked}, fields...)...) })
	return u, err
}

// Chain implements state.Store. The head is read first: all entries up to it are there by then. How far
// the log is chained is read before it: what comes behind that may be in no chain yet.
func (s *Store) Chain(ctx context.Context, org uuid.UUID, from uint64,
	limit int) (chain audit.Chain, links []audit.Link, err error) {
	if err := s.inLog(ctx); err != nil {
		return audit.Chain{}, nil, err
	}
	if org == uuid.Nil {
		return audit.Chain{}, nil, ctx.Err()
	}
	err = s.list(ctx, org, func(ctx context.Context, db querier) error {
		read := func() error { chain, links, err = chainIn(ctx, db, org, from, limit); return err }
		removed, err := stateengine.Steady(func() (audit.Checkpoint, error) {
			return stateengine.ScanCheckpoint(db.QueryRowContext(ctx, sqlCheckpoint, org.String()).Scan)
		}, read)
		chain.Removed = removed
		return err
	})
	return chain, links, err
}

// chainIn reads a part of a chain as it is in the database.
func chainIn(ctx context.Context, db querier, org uuid.UUID, from uint64,
	limit int) (chain audit.Chain, links []audit.Link, err error) {
	var chained, began int64
	if err := db.QueryRowContext(ctx, sqlBegan).Scan(&chained, &began); errors.Is(err, sql.ErrNoRows) {
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
	high := max(chained, began)
	if chain.Place > 0 {
		high = stateengine.Key(chain.Head.Sequence)
	}
	chain.Old = uint64(began)
	err = each(ctx, db, stateengine.ScanLink, func(l audit.Link) bool {
		links = append(links, l)
		return true
	}, sqlLinks, org.String(), stateengine.Key(from), high, limit)
	return chain, links, err
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlChain    = `SELECT ` + stateengine.ChainNames + ` FROM chains WHERE org = ?`
	sqlSetChain = `INSERT INTO chains (` + stateengine.ChainNames + `) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org)
		DO UPDATE SET sequence = excluded.sequence, place = excluded.place, hash = excluded.hash`
	sqlShredChain = `DELETE FROM chains WHERE org = ?`
)

// keptChains is how many chains a session keeps the heads of, about 200 bytes each.
const keptChains = 4096

// chains are the heads of organizations' chains as the transaction under way sees them. They are as
// exact as heads are, and for the same reasons. What a transaction has added to one is written once,
// at its end.
type chains struct {
	kept  *simplelru.LRU[uuid.UUID, audit.Chain]
	grown map[uuid.UUID]audit.Chain
}

func newChains() *chains {
	// The only error is a size below one.
	kept, _ := simplelru.NewLRU[uuid.UUID, audit.Chain](keptChains, nil)
	return &chains{kept, map[uuid.UUID]audit.Chain{}}
}

// forgetAll forgets also what is not written yet.
func (c *chains) forgetAll() {
	c.kept.Purge()
	clear(c.grown)
}

// forget forgets a chain that is gone, and reports whether there was more of it than was written.
func (c *chains) forget(org uuid.UUID) (grown bool) {
	_, grown = c.grown[org]
	c.kept.Remove(org)
	delete(c.grown, org)
	return grown
}

// chainOf returns an organization's chain.
func (t *session) chainOf(org uuid.UUID) (audit.Chain, error) {
	if c, ok := t.chains.grown[org]; ok {
		return c, nil
	}
	if c, ok := t.chains.kept.Get(org); ok {
		return c, nil
	}
	return scanChain(t.chain.QueryRowContext(context.Background(), org.String()))
}

// scanChain reads the zero chain where there is none.
func scanChain(row *sql.Row) (audit.Chain, error) {
	_, c, err := stateengine.ScanChain(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return audit.Chain{}, nil
	}
	return c, err
}

// link adds an event, which has its sequence and its time, to its organization's chain, and returns
// what its row says of that.
func (t *session) link(e audit.Event) (place int64, hash any, err error) {
	if e.Org == uuid.Nil || t.unchained {
		return 0, nil, nil
	}
	c, err := t.chainOf(e.Org)
	if err != nil {
		return 0, nil, err
	}
	c = c.Begun().Next(e)
	t.chains.grown[e.Org] = c
	return int64(c.Place), c.Head.Hash[:], nil
}

// ending writes how far the chains have come by the transaction.
func (t *session) ending(*sqlitedb.Tx) error {
	for org, c := range t.chains.grown {
		if err := t.exec(t.setChain, stateengine.ChainValues(org, c)...); err != nil {
			return err
		}
	}
	return nil
}

// settle keeps what the transaction has written.
func (c *chains) settle() {
	for org, chain := range c.grown {
		c.kept.Add(org, chain)
	}
	clear(c.grown)
}

// Chain implements state.Store. The head is read first: all entries up to it are there by then.
func (s *Store) Chain(ctx context.Context, org uuid.UUID, from uint64,
	limit int) (chain audit.Chain, links []audit.Link, err error) {
	if org == uuid.Nil {
		return audit.Chain{}, nil, ctx.Err()
	}
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		read := func() error { chain, links, err = r.chain(ctx, org, from, limit); return err }
		removed, err := steadyChain(ctx, r, org, read)
		chain.Removed = removed
		return err
	})
	return chain, links, err
}

// chain reads a part of a chain as it is in the database.
func (r *reader) chain(ctx context.Context, org uuid.UUID, from uint64,
	limit int) (chain audit.Chain, links []audit.Link, err error) {
	if chain, err = scanChain(r.conn.QueryRowContext(ctx, sqlChain, org.String())); err != nil {
		return chain, nil, err
	}
	high := int64(math.MaxInt64)
	if chain.Place > 0 {
		high = stateengine.Key(chain.Head.Sequence + 1)
	}
	query, args := listFor(org, audit.Query{}).links(stateengine.Key(from), high, limit)
	links, err = collect(ctx, r, query, args, stateengine.ScanLink)
	return chain, links, err
}

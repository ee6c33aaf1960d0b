package audit

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Chained is a log with chains. A state.Store is one.
type Chained interface {
	Chain(ctx context.Context, org uuid.UUID, from uint64, limit int) (Chain, []Link, error)
	Events(ctx context.Context, org uuid.UUID, q Query) (Page, error)
}

// Check says which part of a chain is verified.
type Check struct {
	After Mark // the entry to go on behind; zero begins with the first one
	Kept  Mark // an entry that has to be there; zero for none
	Limit int  // how many entries are looked at, above zero
}

// Verdict is what a Check has found.
type Verdict struct {
	Chain   Chain
	Checked int     // entries that were looked at
	Breaks  []Break // none where all is well
	Next    Mark    // Check.After of what is left; zero at the end
}

// Verify looks at a part of an organization's chain. It begins again where retention has removed the entry that it
// came to.
func Verify(ctx context.Context, log Chained, org uuid.UUID, c Check) (v Verdict, err error) {
	from, limit := c.After.Sequence, c.Limit
	if from > 0 {
		limit++ // the entry itself comes along, to be compared
	}
	chain, links, err := read(ctx, log, org, from, limit)
	if err != nil {
		return Verdict{}, err
	}
	v.Chain = chain
	w := NewWalk(chain, c.Kept)
	more := len(links) == limit
	if from > 0 {
		if r := chain.Removed; c.After.Sequence == r.Sequence && c.After.Hash != (Hash{}) && c.After.Hash != r.Hash {
			w.Resume(c.After, nil)
			v.Breaks = w.Breaks()
			return v, nil
		}
		if w.Anew(c.After) {
			c.After = Mark{}
			return Verify(ctx, log, org, c)
		}
		if !w.Resume(c.After, links) {
			v.Breaks = w.Breaks()
			return v, nil
		}
		links = links[1:]
	}
	for _, l := range links {
		w.Step(l)
	}
	v.Checked = len(links)
	if more && w.At().Sequence > max(from, chain.Removed.Sequence) && w.At().Sequence != chain.Head.Sequence {
		v.Next = w.At()
	} else {
		w.End()
		if err := began(ctx, log, org, w); err != nil {
			return Verdict{}, err
		}
	}
	v.Breaks = w.Breaks()
	return v, nil
}

// began has the walk compare where the log begins with its newest removal. One that was made since the walk began has
// the beginning read again.
func began(ctx context.Context, log Chained, org uuid.UUID, w *Walk) error {
	for range mostRemovals {
		removal, err := newestRemoval(ctx, log, org)
		if err != nil {
			return err
		}
		if removal == nil || removal.Note == w.chain.Removed.String() {
			w.Began(removal)
			return nil
		}
		now, _, err := log.Chain(ctx, org, 0, 1)
		if err != nil {
			return err
		}
		if now.Removed == w.chain.Removed {
			w.Began(removal)
			return nil
		}
		w.chain.Removed = now.Removed
	}
	return fault.New(fault.Overloaded, "old entries are being removed from the audit log; try again")
}

// mostRemovals is how many removals may come between.
const mostRemovals = 20

// newestRemoval is nil without any.
func newestRemoval(ctx context.Context, log Chained, org uuid.UUID) (*Event, error) {
	for q := (Query{Action: AuditPrune, Limit: 1}); ; {
		page, err := log.Events(ctx, org, q)
		if err != nil {
			return nil, err
		}
		if len(page.Events) > 0 {
			return &page.Events[0], nil
		}
		if q.Before = page.Next; q.Before == 0 {
			return nil, nil
		}
	}
}

// read reads a part of a chain. One that has begun between its head and its entries is read again.
func read(ctx context.Context, log Chained, org uuid.UUID, from uint64, limit int) (Chain, []Link, error) {
	chain, links, err := log.Chain(ctx, org, from, limit)
	if chain.Place == 0 && slices.ContainsFunc(links, func(l Link) bool { return l.Place > 0 }) {
		return log.Chain(ctx, org, from, limit)
	}
	return chain, links, err
}

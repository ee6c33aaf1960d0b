package resources

import (
	"context"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/fair"
	"github.com/holdfast/holdfast/state"
)

// followStates goes through the events behind the index's position. The position moves
// once all states that they are about are as they say: a state's head, not the event,
// decides what is to be done, so that to do it again is fine.
func (x *Indexer) followStates(ctx context.Context) error {
	p, err := x.Index.Position(ctx)
	if err != nil {
		return err
	}
	if known, err := x.knows(ctx, p); err != nil || !known {
		if err == nil {
			err = x.rebuild(ctx)
		}
		if err != nil {
			return err
		}
		return x.followStates(ctx)
	}
	for more := true; more; {
		var found changed
		if found, more, err = x.gather(ctx, p.Sequence); err != nil || found.last.Sequence == 0 {
			return err
		}
		if err := x.apply(ctx, found); err != nil {
			return err
		}
		p = positionAt(found.last)
		if err := x.advance(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// maxChanged is how many states are gathered before they are read.
const maxChanged = 100

// changed is what a part of the feed is about.
type changed struct {
	refs []state.Ref // each once, however often it was written: the newest version counts
	last audit.Event // the zero Event if there is none
}

// gather reads the feed up to its end, or until many states have changed; then there may be
// more.
func (x *Indexer) gather(ctx context.Context, after uint64) (found changed, more bool, err error) {
	seen := map[state.Ref]bool{}
	for more = true; more && len(found.refs) < maxChanged; {
		events, err := x.States.Feed(ctx, after, feedPage)
		if err != nil {
			return found, false, err
		}
		for _, e := range events {
			found.add(e, seen)
			after = e.Sequence
		}
		more = len(events) == feedPage // what is written from now on is for the next look
	}
	return found, more, nil
}

func (c *changed) add(e audit.Event, seen map[state.Ref]bool) {
	c.last = e
	if e.Refused != "" || !changesResources(e.Action) {
		return
	}
	if ref := (state.Ref{Org: e.Org, Name: state.Name(e.State)}); !seen[ref] {
		seen[ref], c.refs = true, append(c.refs, ref)
	}
}

func (x *Indexer) advance(ctx context.Context, p Position) error {
	defer x.progress.step()
	return x.turn.alone(ctx, func() error { return x.Index.Advance(ctx, p) })
}

// knows reports whether the position is one in this store's feed. It is not when the index is
// new, or the store was put back from a backup since.
func (x *Indexer) knows(ctx context.Context, p Position) (bool, error) {
	if !p.Complete || p.Sequence == 0 {
		return p.Complete, nil
	}
	events, err := x.States.Feed(ctx, p.Sequence-1, 1)
	return err == nil && len(events) == 1 && positionAt(events[0]) == p, err
}

// positionAt goes by the time of an event: it is what stays of one whose organization was shredded.
func positionAt(e audit.Event) Position {
	return Position{Sequence: e.Sequence, Event: e.At.UTC().String(), Complete: true}
}

// apply brings the states that have changed up to date.
func (x *Indexer) apply(ctx context.Context, found changed) error {
	for _, ref := range inTurns(found.refs) {
		if err := x.pace.work(ctx, func() error { return x.sync(ctx, ref) }); err != nil {
			return err
		}
	}
	return nil
}

// inTurns takes a state of each organization after the other: many large ones of one of them
// keep nobody else's out of the index.
func inTurns(refs []state.Ref) []state.Ref {
	var waiting fair.Queue[state.Ref]
	for _, ref := range refs {
		waiting.Join(ref.Org, ref)
	}
	ordered := refs[:0]
	for !waiting.Empty() {
		ordered = append(ordered, waiting.Next(func(*fair.Place[state.Ref]) bool { return true }).Value)
	}
	return ordered
}

func changesResources(a audit.Action) bool {
	switch a {
	case audit.StateWrite, audit.StateImport, audit.StateRollback, audit.StateDelete, audit.StateUndelete,
		audit.StateExpire,
		audit.VersionPurge, audit.CandidateAccept:
		return true
	}
	return false
}

// rebuild makes the index as the states are now, whatever it has. States that it has as
// they are stay as they are.
func (x *Indexer) rebuild(ctx context.Context) error {
	x.Log.DebugContext(ctx, "making the resource index")
	if err := x.advance(ctx, Position{}); err != nil {
		return err
	}
	p, err := x.endOfFeed(ctx) // what is written after this is seen again
	if err != nil {
		return err
	}
	if err := x.syncAll(ctx); err != nil {
		return err
	}
	if err := x.dropStrangers(ctx); err != nil {
		return err
	}
	x.Log.InfoContext(ctx, "the resource index is complete")
	return x.advance(ctx, p)
}

func (x *Indexer) endOfFeed(ctx context.Context) (Position, error) {
	p := Position{Complete: true}
	for {
		events, err := x.States.Feed(ctx, p.Sequence, feedPage)
		if err != nil || len(events) == 0 {
			return p, err
		}
		p = positionAt(events[len(events)-1])
	}
}

func (x *Indexer) syncAll(ctx context.Context) error {
	var after state.Ref
	for {
		located, err := x.States.All(ctx, after, listPage)
		if err != nil || len(located) == 0 {
			return err
		}
		for _, one := range located {
			if err := x.sync(ctx, one.Ref); err != nil {
				return err
			}
		}
		after = located[len(located)-1].Ref
	}
}

// dropStrangers removes states that the store doesn't have.
func (x *Indexer) dropStrangers(ctx context.Context) error {
	var after state.Ref
	for {
		held, err := x.Index.Holdings(ctx, after, listPage)
		if err != nil || len(held) == 0 {
			return err
		}
		for _, one := range held {
			if err := x.sync(ctx, one.Ref); err != nil {
				return err
			}
		}
		after = held[len(held)-1].Ref
	}
}

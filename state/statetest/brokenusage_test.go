package statetest_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// usageBreakages are the stores that count wrong, or don't ask.
func usageBreakages() map[string]breakage {
	plain := func(wrap func(state.Store) state.Store, checks ...string) breakage { return breakage{wrap, checks} }
	return map[string]breakage{
		"counts the deleted":   plain(func(s state.Store) state.Store { return countsDeleted{s} }, "Totals"),
		"counts no takeovers":  plain(func(s state.Store) state.Store { return &staysOldest{Store: s} }, "Totals"),
		"counts no purges":     plain(func(s state.Store) state.Store { return &countsNoPurges{Store: s} }, "Usage"),
		"counts for everybody": plain(func(s state.Store) state.Store { return &countsForAll{Store: s} }, "Usage"),
		"never asks":           plain(tells(nil), "Usage", "Allow", "AllowTogether"),
		"asks ahead of others": plain(asksEarly, "AllowTogether"),
		"asks for replays":     plain(asksForReplayed, "Allow"),
		"adds nothing": plain(tells(func(used, _ int64) (int64, int64) { return used, 0 }), "Allow",
			"AllowTogether"),
		"asks for what is less": plain(tells(func(used, adds int64) (int64, int64) { return used / 2, adds }), "Allow",
			"AllowTogether"),
	}
}

// countsNoPurges goes on to count what a purge has destroyed.
type countsNoPurges struct {
	state.Store
	purged atomic.Int64
}

func (s *countsNoPurges) Purge(ctx context.Context, ref state.Ref, number uint64, event audit.Event) error {
	before, _ := s.Store.Usage(ctx, ref.Org)
	err := s.Store.Purge(ctx, ref, number, event)
	after, _ := s.Store.Usage(ctx, ref.Org)
	s.purged.Add(before - after)
	return err
}

func (s *countsNoPurges) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	used, err := s.Store.Usage(ctx, org)
	return used + s.purged.Load(), err
}

// countsForAll tells each organization what the one has that wrote last.
type countsForAll struct {
	state.Store
	last atomic.Pointer[uuid.UUID]
}

func (s *countsForAll) Update(ctx context.Context, ref state.Ref, body []byte,
	decide state.Decide) (state.Head, error) {
	s.last.Store(&ref.Org)
	return s.Store.Update(ctx, ref, body, decide)
}

func (s *countsForAll) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	if last := s.last.Load(); last != nil {
		org = *last
	}
	return s.Store.Usage(ctx, org)
}

// tells bends what changes are told; nil tells them nothing.
func tells(bend func(used, adds int64) (int64, int64)) func(state.Store) state.Store {
	return bendsChanges(func(c *state.Change) {
		allow := c.Allow
		if c.Allow = nil; bend != nil && allow != nil {
			c.Allow = func(used, adds int64) error { return allow(bend(used, adds)) }
		}
	})
}

// asksEarly asks before the transaction, when others may still write.
func asksEarly(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		used, err := c.next.Usage(c.ctx, c.ref.Org)
		if err != nil {
			return state.Head{}, err
		}
		time.Sleep(time.Millisecond) // time enough for the others to write
		decide := c.decide
		c.decide = func(h state.Head) (state.Change, error) {
			change, err := decide(h)
			if allow := change.Allow; allow != nil {
				change.Allow = func(_, adds int64) error { return allow(used, adds) }
			}
			return change, err
		}
		return c.make()
	}}
}

// asksForReplayed asks about each candidate before it looks whether it is there.
func asksForReplayed(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		used, err := c.next.Usage(c.ctx, c.ref.Org)
		if err != nil {
			return state.Head{}, err
		}
		decide := c.decide
		c.decide = func(h state.Head) (state.Change, error) {
			change, err := decide(h)
			if err == nil && change.Candidate != nil && change.Allow != nil {
				err = change.Allow(used, 0)
			}
			return change, err
		}
		return c.make()
	}}
}

// countsDeleted counts states also when they are deleted.
type countsDeleted struct{ state.Store }

func (s countsDeleted) Totals(ctx context.Context) (state.Totals, error) {
	totals, err := s.Store.Totals(ctx)
	totals.States = 0
	for after := (state.Ref{}); err == nil; {
		var page []state.Located
		if page, err = s.All(ctx, after, 100); len(page) == 0 {
			break
		}
		for _, one := range page {
			if after = one.Ref; one.Head.Version.Number > 0 {
				totals.States++
			}
		}
	}
	return totals, err
}

// staysOldest goes on to say since when the lock was held that was the oldest once.
type staysOldest struct {
	state.Store
	first atomic.Pointer[time.Time]
}

func (s *staysOldest) Totals(ctx context.Context) (state.Totals, error) {
	totals, err := s.Store.Totals(ctx)
	if totals.Locks > 0 {
		s.first.CompareAndSwap(nil, &totals.Oldest)
		totals.Oldest = *s.first.Load()
	}
	return totals, err
}

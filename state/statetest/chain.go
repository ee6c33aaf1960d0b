package statetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// verified walks an organization's chain in pages, and returns how far it has come.
func verified(ctx context.Context, store state.Store, org uuid.UUID, kept audit.Mark,
	limit int) (audit.Chain, int, error) {
	checked := 0
	for at := (audit.Mark{}); ; {
		v, err := audit.Verify(ctx, store, org, audit.Check{After: at, Kept: kept, Limit: limit})
		if err != nil {
			return audit.Chain{}, 0, err
		}
		if len(v.Breaks) > 0 {
			return audit.Chain{}, 0, fmt.Errorf("the chain is broken: %+v", v.Breaks)
		}
		checked += v.Checked
		if at = v.Next; at == (audit.Mark{}) {
			return v.Chain, checked, nil
		}
	}
}

// wantChain holds an organization's chain to having so many entries.
func wantChain(t *testing.T, store state.Store, org uuid.UUID, entries int) audit.Chain {
	t.Helper()
	var chain audit.Chain
	for _, limit := range []int{1, 3, 1000} {
		found, checked, err := verified(t.Context(), store, org, audit.Mark{}, limit)
		if err != nil || checked != entries || found.Place != uint64(entries) {
			t.Fatalf("in pages of %d: %d entries of a chain of %d, %v; want %d", limit, checked, found.Place, err, entries)
		}
		chain = found
	}
	return chain
}

// checkChain has the events of two organizations in two chains, by whatever way they came.
func checkChain(t *testing.T, store state.Store) {
	one, other := newRef("one"), newRef("other")
	wantChain(t, store, one.Org, 0)
	var kept []audit.Mark
	for i := range uint64(5) {
		for _, ref := range []state.Ref{one, other} {
			body := stateBody(i, "chained")
			update(t, store, ref, body, func(h state.Head) (state.Change, error) {
				change, err := accept(describe(body))(h)
				change.At, change.Events = noon(), []audit.Event{happened("a"), happened("b")}
				return change, err
			})
		}
		refused := happened("refused")
		refused.Org = one.Org
		if err := store.Record(t.Context(), refused); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, wantChain(t, store, one.Org, int(i+1)*3).Head)
	}
	chain := wantChain(t, store, one.Org, 15)
	if again := wantChain(t, store, other.Org, 10); again.Seed == chain.Seed || chain.Seed == (audit.Hash{}) {
		t.Errorf("the seeds are %v and %v", chain.Seed, again.Seed)
	}
	for _, mark := range kept {
		if _, _, err := verified(t.Context(), store, one.Org, mark, 4); err != nil {
			t.Errorf("kept %v: %v", mark, err)
		}
		if _, _, err := verified(t.Context(), store, other.Org, mark, 4); err == nil {
			t.Errorf("%v is in another organization's chain", mark)
		}
	}
	_, links, err := store.Chain(t.Context(), one.Org, 0, 99)
	events := wantEvents(t, store, one.Org, audit.Query{Limit: 99}, 15)
	slices.Reverse(events)
	for i, l := range links {
		suite.Equal(t, "an event of the chain", events[i], l.Event)
	}
	if err != nil || len(links) != len(events) {
		t.Errorf("%d of %d events are in the chain, %v", len(links), len(events), err)
	}
	none, links, err := store.Chain(t.Context(), uuid.Nil, 0, 9)
	if err != nil || none.Place != 0 || len(links) > 0 {
		t.Errorf("the chain of nobody is %+v of %d, %v", none, len(links), err)
	}
}

// checkChainRead verifies a chain again and again while many write to it.
func checkChainRead(t *testing.T, store state.Store) {
	const writers, each = 4, 25
	org := uuid.New()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writing, reading sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			for range each {
				e := happened(fmt.Sprint(i))
				e.Org = org
				if err := store.Record(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	reading.Go(func() {
		kept := audit.Mark{}
		for ctx.Err() == nil {
			chain, _, err := verified(ctx, store, org, kept, 7)
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("while others write: %v", err)
				}
				return
			}
			kept = chain.Head
		}
	})
	writing.Wait()
	cancel()
	reading.Wait()
	wantChain(t, store, org, writers*each)
}

// checkChainShred ends a chain with its organization, and no other one.
func checkChainShred(t *testing.T, store state.Store) {
	gone, other := newNeighbour(t, store), newNeighbour(t, store)
	entries := len(gone.look(t, store).Events)
	before, stays := wantChain(t, store, gone.org, entries), wantChain(t, store, other.org, entries)
	for removed := 1; removed > 0; {
		var err error
		if removed, err = store.Shred(t.Context(), gone.org, 7); err != nil {
			t.Fatal(err)
		}
	}
	wantChain(t, store, gone.org, 0)
	if chain := wantChain(t, store, other.org, entries); chain != stays {
		t.Errorf("the other chain is %+v, and was %+v", chain, stays)
	}
	e := happened("anew")
	e.Org = gone.org
	if err := store.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if chain := wantChain(t, store, gone.org, 1); chain.Seed == before.Seed || chain.First <= before.Head.Sequence {
		t.Errorf("the new chain is %+v, and the old one was %+v", chain, before)
	}
}

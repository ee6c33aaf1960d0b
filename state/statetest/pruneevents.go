package statetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// recordAt records an event of an organization.
func recordAt(t *testing.T, store state.Store, org uuid.UUID, at time.Time, note string) {
	t.Helper()
	e := happened(note)
	e.Org, e.At = org, at
	if err := store.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// wantBegins verifies a chain that has come to so many entries, and of which so many are removed.
func wantBegins(t *testing.T, store state.Store, org uuid.UUID, removed, entries int) audit.Chain {
	t.Helper()
	var chain audit.Chain
	for _, limit := range []int{1, 3, 1000} {
		found, checked, err := verified(t.Context(), store, org, audit.Mark{}, limit)
		if err != nil || checked != entries-removed || found.Place != uint64(entries) ||
			found.Removed.Place != uint64(removed) {
			t.Fatalf("in pages of %d: %d entries of a chain of %d behind %+v, %v; want %d of %d", limit, checked, found.Place,
				found.Removed, err, entries-removed, entries)
		}
		chain = found
	}
	return chain
}

// checkPruneEvents removes the old events of one organization, piece by piece, until nothing of before is left.
func checkPruneEvents(t *testing.T, store state.Store) {
	one, other := uuid.New(), uuid.New()
	for i := range 10 {
		recordAt(t, store, one, noon().Add(time.Duration(i)*time.Hour), fmt.Sprint(i))
		recordAt(t, store, other, noon().Add(time.Duration(i)*time.Hour), fmt.Sprint(i))
	}
	all := wantEvents(t, store, one, audit.Query{Limit: 99}, 10)
	slices.Reverse(all)
	until := noon().Add(7 * time.Hour)
	for i, want := range []int{3, 3, 1, 0} { // those at 7 hours stay
		removal := happened("")
		removal.At = noon().Add(20 * time.Hour)
		if n, err := store.PruneEvents(t.Context(), one, until, 3, removal); n != want || err != nil {
			t.Fatalf("%d: %d, %v; want %d", i, n, err, want)
		}
		gone, removals := min(3*(i+1), 7), min(i+1, 3)
		chain := wantBegins(t, store, one, gone, 10+removals)
		last := all[gone-1]
		if r := chain.Removed; r.Sequence != last.Sequence || !r.At.Equal(last.At) {
			t.Errorf("the checkpoint is %+v, want that of %+v", r, last)
		}
		left := wantEvents(t, store, one, audit.Query{Limit: 99}, 10-gone+removals)
		suite.Equal(t, "the oldest event", all[gone], left[len(left)-1])
		if left[0].Action != audit.AuditPrune || left[0].Note != chain.Removed.String() || left[0].Org != one {
			t.Errorf("the removal's event is %+v", left[0])
		}
		wantBegins(t, store, other, 0, 10)
	}
	since := wantEvents(t, store, one, audit.Query{Since: noon().Add(8 * time.Hour), Limit: 99}, 2+3)
	suite.Equal(t, "the first since", all[8], since[len(since)-1])
	wantEvents(t, store, one, audit.Query{Until: noon().Add(7 * time.Hour), Limit: 99}, 0)
	wantEvents(t, store, other, audit.Query{Until: noon().Add(7 * time.Hour), Limit: 99}, 7)
	checkKept(t, store, one, all)

	// The other's go too: nothing is left of the log's beginning, and its numbers go on.
	later := noon().Add(21 * time.Hour)
	feed := readFeed(t, store)
	newest := feed[len(feed)-1].Sequence
	for _, org := range []uuid.UUID{other, one} {
		if _, err := store.PruneEvents(t.Context(), org, later, 100, happened("")); err != nil {
			t.Fatal(err)
		}
	}
	wantBegins(t, store, one, 13, 14)
	wantBegins(t, store, other, 10, 11)
	recordAt(t, store, one, later, "after")
	wantBegins(t, store, one, 13, 15)
	left := slices.DeleteFunc(readFeed(t, store), func(e audit.Event) bool { return e.IsBlank() })
	if len(left) != 3 || left[0].Sequence != newest+1 || left[2].Note != "after" {
		t.Errorf("the log has %+v, and had come to %d", left, newest)
	}
	shredAll(t, store, one)
	wantChain(t, store, one, 0)
	recordAt(t, store, one, later, "anew")
	wantBegins(t, store, one, 0, 1)
}

// checkKept tells of heads that were kept elsewhere: nothing of those from before the checkpoint, and of it itself
// whether it is that.
func checkKept(t *testing.T, store state.Store, org uuid.UUID, all []audit.Event) {
	t.Helper()
	chain, _, err := verified(t.Context(), store, org, audit.Mark{}, 99)
	if err != nil {
		t.Fatal(err)
	}
	forged := audit.Mark{Sequence: chain.Removed.Sequence, Hash: audit.Hash{1}}
	for mark, good := range map[audit.Mark]bool{
		{Sequence: all[0].Sequence, Hash: audit.Hash{1}}: true, chain.Removed.Mark: true, forged: false, chain.Head: true,
		{Sequence: all[8].Sequence, Hash: audit.Hash{1}}: false,
	} {
		if _, _, err := verified(t.Context(), store, org, mark, 2); (err == nil) != good {
			t.Errorf("kept %v: %v", mark, err)
		}
	}
	// Who was verifying when it was removed goes on from where the log begins now.
	v, err := audit.Verify(t.Context(), store, org, audit.Check{After: audit.Mark{Sequence: all[2].Sequence}, Limit: 99})
	if err != nil || len(v.Breaks) > 0 || v.Checked == 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

func readFeed(t *testing.T, store state.Store) []audit.Event {
	t.Helper()
	feed, err := store.Feed(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return feed
}

func shredAll(t *testing.T, store state.Store, org uuid.UUID) {
	t.Helper()
	for removed := 1; removed > 0; {
		var err error
		if removed, err = store.Shred(t.Context(), org, 7); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPruneEventsTogether removes events by several at once, while others add some and verify.
func checkPruneEventsTogether(t *testing.T, store state.Store) {
	const pruners, writes = 3, 40
	org := uuid.New()
	for i := range 30 {
		recordAt(t, store, org, noon().Add(-48*time.Hour), fmt.Sprint("old ", i))
	}
	removed := make([]int, pruners)
	suite.Together(t, pruners+2, func(ctx context.Context, worker int) error {
		switch worker {
		case pruners:
			for i := range writes {
				e := happened(fmt.Sprint(i))
				e.Org = org
				if err := store.Record(ctx, e); err != nil {
					return err
				}
			}
			return nil
		case pruners + 1:
			for range 10 {
				if _, _, err := verified(ctx, store, org, audit.Mark{}, 7); err != nil {
					return err
				}
			}
			return nil
		}
		for {
			n, err := store.PruneEvents(ctx, org, noon().Add(-24*time.Hour), 4, happened(""))
			removed[worker] += n
			if err != nil || n < 4 {
				return err
			}
		}
	})
	sum := 0
	for _, n := range removed {
		sum += n
	}
	chain, _, err := verified(t.Context(), store, org, audit.Mark{}, 99)
	if removals := int(chain.Place) - 30 - writes; err != nil || sum != 30 || removals < 8 || removals > 10 ||
		chain.Removed.Place != 30 {
		t.Error(errors.Join(err, fmt.Errorf("%d are removed, and the chain is %+v", sum, chain)))
	}
}

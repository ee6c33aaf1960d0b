package statetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
)

// pruneNow is when the versions of writtenAt are pruned, in hours after noon.
const pruneNow = 100

// checkPruneWrongClock prunes by time where a clock was ahead or behind when some versions
// were written.
func checkPruneWrongClock(t *testing.T, store state.Store) {
	const future, past = 24 * 365 * 10, -24 * 365 * 50
	for name, c := range map[string]struct {
		hours  []int // after noon, when each version was written
		before int
		left   uint64 // the oldest one that stays
	}{
		"one in between":         {[]int{0, future, 1, 2, 3}, 2, 4},
		"the oldest":             {[]int{future, 0, 1, 2, 3}, 1, 3},
		"two in a row":           {[]int{0, future, future + 1, 1, 2}, 2, 5},
		"the newest tells":       {[]int{future, 0}, 1, 2},
		"the last but one":       {[]int{0, 1, future, 2}, 2, 3},
		"the newest":             {[]int{0, 1, future}, 2, 3},
		"none is old":            {[]int{future, 5, 6}, 5, 1},
		"ahead, in the past now": {[]int{0, 5, 1, 6, 2}, 2, 2},
		"ahead until now":        {[]int{0, pruneNow, 1, 6}, 2, 2},
		"just ahead":             {[]int{0, pruneNow + 1, 1, 6}, 2, 4},
		"behind":                 {[]int{5, 6, 7, past, 8}, 5, 1},
		"behind, some are old":   {[]int{0, 5, 6, past, 8}, 5, 2},
		"the oldest was behind":  {[]int{past, 5, 6}, 5, 2},
		"the newest is behind":   {[]int{5, 6, past}, 5, 1},
		"behind and ahead":       {[]int{5, future, past, 8}, 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			ref := writtenAt(t, store, c.hours...)
			p := state.Pruning{Before: noon().Add(time.Duration(c.before) * time.Hour), Now: noon().Add(pruneNow * time.Hour),
				Limit: 1}
			for gone := uint64(1); ; gone++ {
				n, err := store.Prune(t.Context(), ref, p, happened(""))
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					wantOldest(t, store, ref, c.left)
					return
				}
				if gone >= c.left {
					t.Fatalf("version %d is gone", gone)
				}
			}
		})
	}
	t.Run("reach", func(t *testing.T) { checkPruneReach(t, store) })
}

// checkPruneReach finds the old version behind as many of the future as it has to, and
// doesn't read on for ever.
func checkPruneReach(t *testing.T, store state.Store) {
	hours := make([]int, state.PruneReach+2)
	for i := range hours {
		hours[i] = 1000
	}
	hours = append(hours, 0, 1)
	ref := writtenAt(t, store, hours...)
	for below, left := range []uint64{1, 1, 2, uint64(len(hours))} {
		p := state.Pruning{Below: uint64(below), Before: noon().Add(time.Hour), Now: noon().Add(pruneNow * time.Hour),
			Limit: 1000}
		if _, err := store.Prune(t.Context(), ref, p, happened("")); err != nil {
			t.Fatal(err)
		}
		wantOldest(t, store, ref, left)
	}
}

// writtenAt returns a state with versions that were written so many hours after noon.
func writtenAt(t *testing.T, store state.Store, hours ...int) state.Ref {
	t.Helper()
	ref := newRef("ahead")
	for i, hour := range hours {
		body := stateBody(uint64(i), "")
		v := describe(body)
		v.CreatedAt = noon().Add(time.Duration(hour) * time.Hour)
		update(t, store, ref, body, accept(v))
	}
	return ref
}

func wantOldest(t *testing.T, store state.Store, ref state.Ref, want uint64) {
	t.Helper()
	if got := oldestOf(t.Context(), store, ref); got != want {
		t.Errorf("the oldest version left is %d, want %d", got, want)
	}
}

func oldestOf(ctx context.Context, store state.Store, ref state.Ref) uint64 {
	for number := uint64(1); ; number++ {
		if _, err := store.Version(ctx, ref, number); err == nil {
			return number
		} else if number > 1000 {
			panic(fmt.Sprint("no version is left: ", err))
		}
	}
}

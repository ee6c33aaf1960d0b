package state_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
)

// TestSweepWithWrongClocks writes many versions within three days, of which one has a wrong time.
func TestSweepWithWrongClocks(t *testing.T) {
	const day = 24 * time.Hour
	unset := time.Unix(0, 0)
	for name, c := range map[string]struct {
		wrong int       // which of the versions
		dated time.Time // what its time is, zero for so much ahead
		ahead time.Duration
		after time.Duration // when the sweep is, from the last version on
		left  int
	}{
		"one before the clock was set":        {59, unset, 0, 0, 60},
		"the first before the clock was set":  {1, unset, 0, 0, 59},
		"the newest before the clock was set": {60, unset, 0, 0, 60},
		"swept with a clock that is behind":   {59, unset, 0, -10 * day, 60},
		"one far ahead, none is old":          {30, time.Time{}, 9000 * day, 0, 60},
		"one far ahead, all are old":          {30, time.Time{}, 9000 * day, 31 * day, 1},
		"one ahead, but in the past by now":   {30, time.Time{}, 10 * day, 35 * day, 31},
		"its lead is over":                    {30, time.Time{}, 10 * day, 45 * day, 1},
		"the newest far ahead, none is old":   {60, time.Time{}, 9000 * day, 0, 60},
		"the newest far ahead, all are old":   {60, time.Time{}, 9000 * day, 31 * day, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(p *state.Policy) { p.KeepFor = 30 * day })
			right := b.now
			for n := 1; n <= 60; n++ {
				right = right.Add(time.Hour)
				b.now = right
				if n == c.wrong && c.dated.IsZero() {
					b.now = right.Add(c.ahead)
				} else if n == c.wrong {
					b.now = c.dated
				}
				b.must(b.put(numbered(n), ""))
			}
			b.now = right.Add(c.after)
			b.must(b.Sweep(t.Context()), b.Sweep(t.Context()))
			versions, err := b.Versions(t.Context(), b.owner, "x", 0, 100)
			if err != nil || len(versions) != c.left {
				t.Errorf("%d versions are left, want %d; %v", len(versions), c.left, err)
			}
		})
	}
}

// TestCountWithoutNow takes no version for one of the future when nobody says what time it is.
func TestCountWithoutNow(t *testing.T) {
	at := time.Unix(1e9, 0)
	versions := []state.Aged{{Number: 1, CreatedAt: at}, {Number: 2, CreatedAt: time.Unix(0, 0)},
		{Number: 3, CreatedAt: at, Newest: true}}
	if n := (state.Pruning{Before: at, Limit: 9}).Count(slices.Values(versions)); n != 0 {
		t.Errorf("%d versions go", n)
	}
}

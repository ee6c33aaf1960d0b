package server

import (
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	const mb = 1 << 20
	for live, want := range map[uint64]int{
		0:         1500, // as if it were a sixteenth of the floor
		4 * mb:    1500,
		16 * mb:   300,
		31 * mb:   106,
		32 * mb:   100,
		128 * mb:  100,
		400 * mb:  32,
		4000 * mb: 15, // not by less
	} {
		if got := percentFor(live, 64*mb); got != want {
			t.Errorf("with %d MB alive: %d %%, want %d", live/mb, got, want)
		}
	}
}

func TestCollectorAdjusts(t *testing.T) {
	var set []int
	var live uint64
	c := &collector{floor: 1600, percent: usualPercent, live: func() uint64 { return live },
		set: func(percent int) int { set = append(set, percent); return 0 }}
	for _, live = range []uint64{400, 410, 390, 800, 900, 790, 100} {
		c.adjust()
	}
	if want := []int{300, 100, 1500}; len(set) != len(want) || set[0] != want[0] || set[1] != want[1] ||
		set[2] != want[2] {
		t.Errorf("set to %v, want %v", set, want)
	}
}

func TestCollectorObeys(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	collectLater(func(string) string { return "50" }, 1<<40)
	collectLater(func(string) string { return "" }, 4*heapFloor-1)
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("GOGC is %d, though it was set by hand or memory is short", got)
	}
}

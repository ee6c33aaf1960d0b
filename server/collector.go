package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapFloor is how large the heap may get, in bytes, before garbage is collected. By
	// itself Go collects when the heap has doubled: with the 5 MB that a server holds on to
	// while it is asked for small states, 60 times a second, for a sixth of its time.
	heapFloor = 64 << 20
	// heapRoom is by how many bytes a heap that is larger than that may grow between two collections. To double
	// what 64 writers of 10 MB each have in use would take twice the memory; and as it is bytes without pointers, which
	// are not looked through, to collect it more often costs little.
	heapRoom = 128 << 20
	// usualPercent is Go's own, which holds for a heap of more than half the floor and less than the room.
	usualPercent = 100
	// leastPercent is for heaps so large that nobody knows what is in them: an index of millions of resources is all
	// pointers.
	leastPercent = 15
)

// collector keeps garbage from being collected before the heap has reached the floor. The
// memory limit goes before it. It is used by one goroutine at a time.
type collector struct {
	floor   uint64
	percent int // in force
	live    func() uint64
	set     func(percent int) int
}

// collectLater makes the heap's floor hold from the next collection on, unless GOGC says
// when to collect, or the memory limit (in bytes) leaves no room for it.
func collectLater(getenv func(string) string, limit int64) {
	if getenv("GOGC") != "" || limit < 4*heapFloor {
		return
	}
	c := &collector{floor: heapFloor, percent: usualPercent, live: liveHeap, set: debug.SetGCPercent}
	c.adjust()
	c.watch()
}

// watch adjusts after each collection, which is when finalizers run.
func (c *collector) watch() {
	type canary struct{ *collector }
	runtime.SetFinalizer(&canary{c}, func(*canary) {
		c.adjust()
		c.watch()
	})
}

// adjust has the next collection come at the floor, when the heap has doubled, or when it has grown by its room. To
// set it stops everything for a moment, so it stays where it is nearly right.
func (c *collector) adjust() {
	wanted := percentFor(c.live(), c.floor)
	if math.Abs(float64(wanted-c.percent)) <= float64(c.percent)/8 {
		return
	}
	c.percent = wanted
	c.set(wanted)
}

// percentFor is by how much the heap may grow.
func percentFor(live, floor uint64) int {
	live = max(live, floor/16) // the stacks count too, and are not in it
	if 2*live < floor {
		return int((floor - live) * 100 / live)
	}
	return max(leastPercent, min(usualPercent, int(heapRoom*100/live)))
}

// liveHeap is what the last collection has left, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

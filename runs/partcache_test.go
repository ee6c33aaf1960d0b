package runs

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/budget"
)

// What is kept of logs for those who watch is of the memory that is bounded, is as much as there is
// room for, and goes when it has been shown, or when nobody watches.
func TestPartsAreWithinTheMemory(t *testing.T) {
	memory := budget.New(10<<20, "bytes")
	ref := Ref{Org: uuid.New(), ID: "r"}
	c := newPartCache(memory, ref)
	key := func(i int) partKey { return partKey{LogRef{ref, "plan", 1}, int64(i)} }
	part := func() *LogPart { return &LogPart{Log: Log{Text: []byte(strings.Repeat("x", 512<<10))}} }
	for i := range 100 {
		c.add(key(i), part())
		c.add(key(i), part()) // which takes no more than once
	}
	if used := memory.InUse(); used == 0 || used > 6<<20 {
		t.Errorf("it has %d bytes of %d, of which one organization may have two thirds", used, 10<<20)
	}
	if _, ok := c.get(key(99)); !ok {
		t.Error("the newest is not there")
	}
	if _, ok := c.get(key(0)); ok {
		t.Error("the oldest is there still")
	}
	for range partLooks + 1 {
		c.look()
	}
	if _, ok := c.get(key(99)); ok || memory.InUse() != 0 {
		t.Errorf("after a while it has %d bytes", memory.InUse())
	}
	c.add(key(1), part())
	c.close()
	c.add(key(2), part())
	if memory.InUse() != 0 {
		t.Errorf("when nobody watches it has %d bytes", memory.InUse())
	}
	unbounded := newPartCache(nil, ref)
	for i := range 100 {
		unbounded.add(key(i), part())
	}
	if n := len(unbounded.order); n != maxParts {
		t.Errorf("without a bound it has %d parts", n)
	}
}

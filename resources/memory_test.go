package resources_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// within gives the world a bound for bodies in memory.
func (w *world) within(memory *budget.Budget) {
	w.indexer.Memory, w.service.Memory = memory, memory
}

// spacious is a body with so much white space beside what is in it.
func spacious(body string, size int) string {
	return body[:len(body)-1] + string(bytes.Repeat([]byte(" "), size)) + "}"
}

// What there is no memory for is skipped: it keeps neither other states nor purges waiting,
// its answer says that it lacks, and it is in the index as soon as there is memory, also
// after a restart.
func TestIndexerWithoutMemory(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		w := newWorld(t)
		memory := budget.New(1<<20, "bytes")
		w.within(memory)
		w.write(acme, "a", vm(1, "i-1"))
		w.write(acme, "a", spacious(vm(2, "i-1", "i-2"), 100_000))
		w.write(acme, "b", vm(1, "i-3"))
		w.write(globex, "c", spacious(vm(1, "i-4"), 100_000))
		other := budget.Share{Org: uuid.New()}
		memory.Force(other, 850_000)
		w.catchUp()
		w.wantUnread(fault.Overloaded)
		if got := fmt.Sprint(w.find(acme, "aws")); got != "[b:aws_instance.web[0]]" {
			t.Errorf("found %s", got)
		}
		must(t, w.purge("a", 1))
		memory.Release(other, 850_000)
		if restarts {
			must(t, w.index.Close())
			w.open()
			w.within(memory)
		} else {
			w.now = w.now.Add(5 * time.Second)
		}
		w.catchUp()
		if got := w.find(acme, "aws"); len(got) != 3 {
			t.Errorf("then there is %s", got)
		}
		if got := w.find(globex, "aws"); len(got) != 1 || memory.InUse() != 0 {
			t.Errorf("of the other there is %s; %d bytes are in use", got, memory.InUse())
		}
		must(t, w.index.Close())
	}
}

// growing is a store in which a state is written while it is looked at.
type growing struct {
	state.Store
	heads int
	write func()
}

func (g *growing) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	head, err := g.Store.Head(ctx, ref)
	if g.heads++; g.heads == 1 {
		g.write()
	}
	return head, err
}

// checked is a store that has each version acquired before it is loaded.
type checked struct {
	state.Store
	t      *testing.T
	memory *budget.Budget
	loaded func()
}

func (c *checked) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	s, err := c.Store.Version(ctx, ref, number)
	if used := c.memory.InUse(); used < s.Size {
		c.t.Errorf("a version of %d bytes is loaded with %d in use", s.Size, used)
	}
	if c.loaded != nil {
		c.loaded()
	}
	return s, err
}

// A version that came while memory was acquired for a smaller one has its own.
func TestIndexerAcquiresWhatItLoads(t *testing.T) {
	w := newWorld(t)
	memory := budget.New(1<<20, "bytes")
	w.within(memory)
	w.write(acme, "a", vm(1, "i-1"))
	w.indexer.States = &growing{Store: &checked{Store: w.states, t: t, memory: memory}, write: func() {
		w.write(acme, "a", spacious(vm(2, "i-2"), 100_000))
	}}
	w.catchUp()
	if got := w.find(acme, "i-2"); len(got) != 1 || memory.InUse() != 0 {
		t.Errorf("found %s; %d bytes are in use", got, memory.InUse())
	}
}

// historyOf is a world whose states are loaded through a store, within a bound, and has a
// history of that many versions.
func historyOf(t *testing.T, versions int, through *checked) *world {
	w := newWorld(t)
	through.Store, through.t = w.states, t
	w.door = state.NewService(through, state.DefaultPolicies{}, func() time.Time { return w.now },
		discard()).Within(through.memory)
	w.open()
	w.within(through.memory)
	for n := range versions {
		for _, org := range []uuid.UUID{acme, globex} {
			w.write(org, "a", spacious(named(n+1, "old", fmt.Sprintf(`"size":%d`, n)), 10_000))
		}
	}
	return w
}

// A history acquires what it loads, and then has what its steps take until it is released.
// Where memory gets short on the way, it is a page that ends there.
func TestHistoryEndsWhereMemoryDoes(t *testing.T) {
	memory, loads := budget.New(1<<20, "bytes"), 0
	through := &checked{memory: memory}
	w := historyOf(t, 10, through)
	other := budget.Share{Org: uuid.New()}
	through.loaded = func() {
		if loads++; loads == 4 { // the newest is read otherwise
			memory.Force(other, 1<<20)
		}
	}
	q := resources.HistoryQuery{State: "a", Address: "aws_vpc.old", Limit: 100}
	h, err := w.service.History(t.Context(), owner(acme), q)
	must(t, err)
	if len(h.Steps) != 3 || h.Next.From != 7 || memory.InUse()-1<<20 <= 0 {
		t.Errorf("%d steps, next is %+v, %d bytes are in use", len(h.Steps), h.Next, memory.InUse())
	}
	h.Release()
	if used := memory.InUse(); used != 1<<20 {
		t.Errorf("%d bytes are in use", used)
	}
	memory.Release(other, 1<<20)
	h, err = w.service.History(t.Context(), owner(acme), h.Next)
	must(t, err)
	if len(h.Steps) != 7 || h.Next.From != 0 {
		t.Errorf("%d steps, next is %+v", len(h.Steps), h.Next)
	}
	h.Release()
	if used := memory.InUse(); used != 0 {
		t.Errorf("%d bytes are in use", used)
	}
}

// Histories of one organization are read one after the other, and keep nobody else's.
func TestHistoriesTakeTurns(t *testing.T) {
	begun, goOn := make(chan struct{}, 100), make(chan struct{})
	through := &checked{memory: budget.New(10<<20, "bytes")}
	w := historyOf(t, 2, through)
	read := func(org uuid.UUID) error {
		h, err := w.service.History(t.Context(), owner(org),
			resources.HistoryQuery{State: "a", Address: "aws_vpc.old", Limit: 100})
		h.Release()
		return err
	}
	through.loaded = func() {
		begun <- struct{}{}
		<-goOn
	}
	ended := make(chan error)
	for range 10 {
		go func() { ended <- read(acme) }()
	}
	<-begun // of one of them
	go func() { ended <- read(globex) }()
	<-begun // of the other organization's, although the first has not ended
	select {
	case <-begun:
		t.Error("two of one organization read at once")
	default:
	}
	close(goOn)
	for range 11 {
		must(t, <-ended)
	}
	if used := through.memory.InUse(); used != 0 {
		t.Errorf("%d bytes are in use", used)
	}
}

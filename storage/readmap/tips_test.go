package readmap

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// gated is a shared store that counts look-ups and loads, and has look-ups wait at a gate.
type gated struct {
	Shared
	mu      sync.Mutex
	gate    chan struct{} // nil for none
	asked   [][]state.Ref
	loads   int
	failing error
}

func (g *gated) Newest(ctx context.Context, refs []state.Ref) ([]state.Tip, error) {
	g.mu.Lock()
	g.asked = append(g.asked, refs)
	g.mu.Unlock()
	if g.gate != nil {
		<-g.gate
	}
	if g.failing != nil {
		return nil, g.failing
	}
	return g.Shared.Newest(ctx, refs)
}

func (g *gated) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	g.mu.Lock()
	g.loads++
	g.mu.Unlock()
	return g.Shared.Current(ctx, ref)
}

// node is a map over it, and another process's way to write to it.
type node struct {
	*fixture
	below *gated
	other *fixture
}

func newNode(t *testing.T) *node {
	shared := memory.New(1 << 30)
	g := &gated{Shared: shared}
	ref := state.Ref{Org: uuid.New(), Name: "app"}
	return &node{
		&fixture{t: t, store: NewShared(g, 1<<20), ref: ref}, g,
		&fixture{t: t, store: New(shared, 0), ref: ref},
	}
}

// reads wants these bytes, after so many look-ups and loads.
func (n *node) reads(body string, lookups, loads int) {
	n.t.Helper()
	asked, loaded := len(n.below.asked), n.below.loads
	got, err := n.store.Current(n.t.Context(), n.ref)
	if err != nil || string(got.Body) != body {
		n.t.Fatalf("read %q, %v; want %q", got.Body, err, body)
	}
	if asked, loaded = len(n.below.asked)-asked, n.below.loads-loaded; asked != lookups || loaded != loads {
		n.t.Fatalf("%d look-ups and %d loads for %q, want %d and %d", asked, loaded, body, lookups, loads)
	}
}

// TestOneLookupPerRead: what this process wrote or read is asked about once for each read, and
// loaded only when another one wrote.
func TestOneLookupPerRead(t *testing.T) {
	n := newNode(t)
	n.write("one")
	n.reads("one", 1, 0)
	n.reads("one", 1, 0)
	n.other.write("two")
	n.reads("two", 1, 1)
	n.reads("two", 1, 0)
	n.other.change(state.Change{Delete: true})
	if _, err := n.store.Current(t.Context(), n.ref); !fault.Is(err, fault.StateNotFound) {
		t.Fatalf("Current of a state that another node deleted: %v", err)
	}
	n.other.change(state.Change{Undelete: true})
	n.reads("two", 0, 1) // there is nothing to ask about
}

// TestCachedNumber: no look-up for another version than the one there is.
func TestCachedNumber(t *testing.T) {
	n := newNode(t)
	n.write("one")
	n.write("two")
	for number, lookups := range map[uint64]int{1: 0, 2: 1, 3: 0} {
		n.below.asked = nil
		got, some, err := n.store.Cached(t.Context(), n.ref, number)
		if err != nil || some != (number == 2) || some && string(got.Body) != "two" || len(n.below.asked) != lookups {
			t.Errorf("version %d: %q, %v, %v after %d look-ups", number, got.Body, some, err, len(n.below.asked))
		}
	}
}

// TestReadsShareLookups: a hundred reads that come while all look-ups are under way have one more
// together, which begins after them.
func TestReadsShareLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		n.write("one")
		n.below.gate = make(chan struct{})
		got := make(chan string, 200)
		read := func(times int) {
			for range times {
				go func() {
					snapshot, err := n.store.Current(t.Context(), n.ref)
					got <- fmt.Sprint(string(snapshot.Body), err)
				}()
				synctest.Wait()
			}
		}
		read(mostLookups)
		read(100)
		if len(n.below.asked) != mostLookups {
			t.Fatalf("%d look-ups are under way", len(n.below.asked))
		}
		n.other.write("two")
		close(n.below.gate)
		for range mostLookups + 100 {
			if answer := <-got; answer != "two<nil>" {
				t.Fatalf("read %s", answer)
			}
		}
		if len(n.below.asked) != mostLookups+1 {
			t.Errorf("%d look-ups for %d reads", len(n.below.asked), mostLookups+100)
		}
	})
}

// TestLookupsAreBounded: one asks about so many states and no more.
func TestLookupsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		names := 2*state.MostNewest + 1
		for i := range names {
			n.ref.Name = state.Name(fmt.Sprint("state", i))
			n.write("one")
		}
		n.below.gate = make(chan struct{})
		read := func(name state.Name, done chan<- error) {
			_, err := n.store.Current(t.Context(), state.Ref{Org: n.ref.Org, Name: name})
			done <- err
		}
		done := make(chan error, mostLookups+names)
		for range mostLookups {
			go read("state0", done)
		}
		synctest.Wait()
		for i := range names {
			go read(state.Name(fmt.Sprint("state", i)), done)
		}
		synctest.Wait()
		close(n.below.gate)
		for range mostLookups + names {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if want := mostLookups + 3; len(n.below.asked) != want {
			t.Errorf("%d look-ups, want %d", len(n.below.asked), want)
		}
		for _, refs := range n.below.asked {
			if len(refs) > state.MostNewest {
				t.Errorf("a look-up of %d", len(refs))
			}
		}
	})
}

// TestLookupFails: what can't be confirmed is not served, and a read that gives up leaves the
// others their look-up.
func TestLookupFails(t *testing.T) {
	n := newNode(t)
	n.write("one")
	n.below.failing = fault.New(fault.StoreUnavailable, "away")
	if got, err := n.store.Current(t.Context(), n.ref); !fault.Is(err, fault.StoreUnavailable) || got.Body != nil {
		t.Errorf("read %q, %v", got.Body, err)
	}
	n.below.failing = nil
	n.reads("one", 1, 0)
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		n.write("one")
		n.below.gate = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		left, stays := make(chan error, mostLookups), make(chan error, 1)
		for range mostLookups {
			go func() { _, err := n.store.Current(ctx, n.ref); left <- err }()
		}
		synctest.Wait()
		go func() { _, err := n.store.Current(t.Context(), n.ref); stays <- err }()
		synctest.Wait()
		cancel()
		for range mostLookups {
			if err := <-left; err != context.Canceled {
				t.Error(err)
			}
		}
		close(n.below.gate)
		if err := <-stays; err != nil {
			t.Error(err)
		}
	})
}

// panics is a store whose look-ups do.
type panics struct{ Shared }

func (panics) Newest(context.Context, []state.Ref) ([]state.Tip, error) { panic("below") }

// TestLookupPanics: it is the panic of the reads, which requests survive.
func TestLookupPanics(t *testing.T) {
	f := &fixture{t: t, store: NewShared(panics{memory.New(1 << 20)}, 1<<20), ref: state.Ref{Org: uuid.New(), Name: "app"}}
	f.write("one")
	for range 2 * mostLookups {
		func() {
			defer func() {
				if recover() != "below" {
					t.Error("no panic")
				}
			}()
			_, _ = f.store.Current(t.Context(), f.ref)
		}()
	}
}

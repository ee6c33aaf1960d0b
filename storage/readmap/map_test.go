package readmap

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

func TestHits(t *testing.T) {
	f := newFixture(t)
	f.write("one")
	f.want("one", 0) // the writer's own
	f.change(state.Change{Lock: &state.Lock{Info: state.LockInfo{ID: "id"}}})
	f.want("one", 0) // a plan
	f.change(state.Change{Release: true})
	f.want("one", 0)
	f.change(state.Change{}) // a replay
	f.want("one", 0)
	refused := errors.New("refused")
	if _, err := f.store.Update(t.Context(), f.ref, nil, func(state.Head) (state.Change, error) {
		return state.Change{Delete: true}, refused
	}); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	f.want("one", 0)
	f.write("two")
	f.want("two", 0)
}

func TestDelete(t *testing.T) {
	f := newFixture(t)
	f.write("one")
	f.change(state.Change{Delete: true})
	if _, err := f.store.Current(t.Context(), f.ref); !fault.Is(err, fault.StateNotFound) {
		t.Fatalf("Current of a deleted state: %v", err)
	}
	f.write("two")
	f.want("two", 0)
}

// TestWriteDuringLoad: the load has the old version when the write begins and ends.
func TestWriteDuringLoad(t *testing.T) {
	for name, write := range map[string]func(*fixture){
		"ended": func(f *fixture) { f.write("two") },
		"under way": func(f *fixture) {
			f.below.committed = func() error {
				f.want("two", 1) // may not be kept either: the write has not ended
				return nil
			}
			f.write("two")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("one")
			f.store.recent.entries.Purge()
			f.below.loaded = func() { write(f) }
			if got, err := f.store.Current(t.Context(), f.ref); err != nil || string(got.Body) != "one" {
				t.Fatalf("read %q, %v", got.Body, err)
			}
			f.want("two", 0)
		})
	}
}

// TestLoadOutlivesWrite: the load begins under the write's mark, has the old version, and
// ends after the write, whose version is not kept because it failed to say so.
func TestLoadOutlivesWrite(t *testing.T) {
	f := newFixture(t)
	f.write("one")
	old, err := f.below.Current(t.Context(), f.ref)
	if err != nil {
		t.Fatal(err)
	}
	w := &write{store: f.store, ref: f.ref}
	decide := w.watch(accept([]byte("two")))
	var l load
	if _, err := f.below.Update(t.Context(), f.ref, []byte("two"), func(h state.Head) (change state.Change, err error) {
		change, err = decide(h)
		l = f.store.beginLoad(f.ref)
		return change, err
	}); err != nil {
		t.Fatal(err)
	}
	w.end()
	l.keep(old)
	l.end()
	f.want("two", 1)
}

// TestOvertaken: the first write commits first and returns last.
func TestOvertaken(t *testing.T) {
	f := newFixture(t)
	f.below.committed = func() error {
		f.write("two")
		f.want("two", 1) // the first write has not ended
		return nil
	}
	f.write("one")
	f.want("two", 1)
	f.want("two", 0)
}

// TestFailedCommit: nobody knows what became of the write, so the store below is asked.
func TestFailedCommit(t *testing.T) {
	f := newFixture(t)
	f.write("one")
	broken := errors.New("broken")
	f.below.committed = func() error { return broken }
	if _, err := f.store.Update(t.Context(), f.ref, []byte("two"), accept([]byte("two"))); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	f.want("two", 1)
	f.want("two", 0)
}

func TestPanicBelow(t *testing.T) {
	f := newFixture(t)
	f.write("one")
	f.below.committed = func() error { panic("below") }
	func() {
		defer func() { _ = recover() }()
		f.write("two")
	}()
	f.want("two", 1)
	f.want("two", 0)
	f.store.recent.entries.Purge()
	f.below.loaded = func() { panic("below") }
	func() {
		defer func() { _ = recover() }()
		_, _ = f.store.Current(t.Context(), f.ref)
	}()
	f.want("two", 1)
}

// TestRetriedDecision: a store may decide more than once; the last time counts.
func TestRetriedDecision(t *testing.T) {
	f := newFixture(t)
	f.write("one")
	calls := 0
	twice := func(h state.Head) (state.Change, error) {
		if calls++; calls == 1 {
			return accept([]byte("two"))(h)
		}
		return state.Change{}, nil
	}
	w := &write{store: f.store, ref: f.ref}
	decide := w.watch(twice)
	for range 2 {
		if _, err := decide(state.Head{Version: state.Version{Number: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	w.keep(state.Head{Version: state.Version{Number: 1}}, []byte("two"))
	w.end()
	f.want("one", 1)
}

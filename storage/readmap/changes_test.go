package readmap

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// changes calls each method that changes what is stored, in every way that may matter to
// a newest version, here version 2. The state exists, or is deleted.
func changes(f *fixture) map[string][]func() error {
	event := audit.Event{At: time.Unix(9, 0), Action: audit.StateWrite}
	ctx := f.t.Context()
	update := func(change state.Change) func() error {
		return func() error {
			_, err := f.store.Update(ctx, f.ref, nil, always(change))
			return err
		}
	}
	purge := func(number uint64) func() error {
		return func() error { return f.store.Purge(ctx, f.ref, number, event) }
	}
	return map[string][]func() error{
		"Update": {update(state.Change{Delete: true}), update(state.Change{Undelete: true}),
			update(state.Change{Release: true})},
		"Purge": {purge(1), purge(2)},
		"Prune": {func() error {
			_, err := f.store.Prune(ctx, f.ref, state.Pruning{Below: 9, Before: time.Now(), Limit: 9}, event)
			return err
		}},
		"Expunge": {func() error {
			_, err := f.store.Expunge(ctx, f.ref, time.Now(), 9, event)
			return err
		}},
		"Shred": {func() error {
			_, err := f.store.Shred(ctx, f.ref.Org, 9)
			return err
		}, func() error {
			for removed := 1; removed > 0; {
				var err error
				if removed, err = f.store.Shred(ctx, f.ref.Org, 9); err != nil {
					return err
				}
			}
			return nil
		}},
		"Record": {func() error { return f.store.Record(ctx, event) }},
		"PruneEvents": {func() error {
			_, err := f.store.PruneEvents(ctx, f.ref.Org, time.Now(), 9, event)
			return err
		}},
	}
}

// TestNoChangeBypasses has every change pass through the map while it has the newest version,
// and while it has seen the state deleted: then it says what the store below says. A new
// method of state.Changes has to join.
func TestNoChangeBypasses(t *testing.T) {
	for method := range reflect.TypeFor[state.Changes]().Methods() {
		ways := len(changes(newFixture(t))[method.Name])
		if ways == 0 {
			t.Errorf("%s is new: say how it is called, and mark what it may change", method.Name)
		}
		for way := range ways {
			for _, deleted := range []bool{false, true} {
				f := newFixture(t)
				f.write("one")
				f.write("two")
				if deleted {
					f.change(state.Change{Delete: true})
				}
				_, _ = f.store.Current(t.Context(), f.ref) // keeps what there is
				if err := changes(f)[method.Name][way](); err != nil {
					t.Errorf("%s, way %d: %v", method.Name, way, err)
				}
				want, wanted := f.below.Store.Current(t.Context(), f.ref)
				got, err := f.store.Current(t.Context(), f.ref)
				if codeOf(err) != codeOf(wanted) || string(got.Body) != string(want.Body) || got.Version != want.Version {
					t.Errorf("%s, way %d, deleted %v: %q, %v; below: %q, %v", method.Name, way, deleted, got.Body, err, want.Body,
						wanted)
				}
			}
		}
	}
}

// codeOf returns the code of a fault, and nothing for no error.
func codeOf(err error) fault.Code {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Code
	}
	return ""
}

// TestListsChangeNothing knows the methods that pass through the map unseen.
func TestListsChangeNothing(t *testing.T) {
	known := []string{"All", "Candidate", "Candidates", "Chain", "Events", "Feed", "Names", "States", "Versions"}
	for method := range reflect.TypeFor[state.Lists]().Methods() {
		if !slices.Contains(known, method.Name) {
			t.Errorf("%s is new in state.Lists: it has to change nothing", method.Name)
		}
	}
}

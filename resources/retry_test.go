package resources_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// rotten are states one of which can't be read, until it is mended behind everybody's back.
type rotten struct {
	state.Store
	name  state.Name
	code  fault.Code
	tries int
}

func (r *rotten) Version(ctx context.Context, ref state.Ref, number uint64) (state.Snapshot, error) {
	if ref.Name != r.name {
		return r.Store.Version(ctx, ref, number)
	}
	if r.tries++; r.code != "" {
		return state.Snapshot{}, fault.New(r.code, "")
	}
	return r.Store.Version(ctx, ref, number)
}

// A state that could not be read is tried again, less and less often.
func TestUnreadableStatesAreTriedAgain(t *testing.T) {
	w := newWorld(t)
	store := &rotten{Store: w.states, name: "a", code: fault.StateCorrupt}
	w.states, w.indexer.States = store, store
	w.write(acme, "a", vm(1, "i-1"))
	w.write(acme, "b", vm(1, "i-2"))
	tries := func(after time.Duration, want int) {
		t.Helper()
		w.now = w.now.Add(after)
		store.tries = 0
		w.catchUp()
		w.catchUp()
		if store.tries != want {
			t.Errorf("%v later it is read %d times, want %d", after, store.tries, want)
		}
	}
	tries(0, 1)
	tries(59*time.Second, 0)
	tries(time.Second, 1)
	tries(119*time.Second, 0)
	tries(time.Second, 1)
	for range 10 {
		tries(24*time.Hour, 1)
	}
	tries(59*time.Minute, 0)
	tries(time.Minute, 1)
	w.wantUnread(fault.StateCorrupt)
	store.code = ""
	tries(time.Hour, 1)
	w.wantUnread("")
	if got := w.find(acme, "i-1"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
	tries(24*time.Hour, 0)
}

// What will never be readable is not tried again.
func TestUnreadableStatesThatStaySo(t *testing.T) {
	for _, code := range []fault.Code{fault.StateUnsupported, fault.StateInvalid} {
		w := newWorld(t)
		store := &rotten{Store: w.states, name: "a", code: code}
		w.states, w.indexer.States = store, store
		w.write(acme, "a", vm(1, "i-1"))
		for range 3 {
			w.catchUp()
			w.now = w.now.Add(24 * time.Hour)
		}
		if store.tries != 1 {
			t.Errorf("%s: read %d times", code, store.tries)
		}
	}
}

// A state that is deleted while it waits to be tried again is not waited for any more.
func TestUnreadableStateThatGoes(t *testing.T) {
	w := newWorld(t)
	store := &rotten{Store: w.states, name: "a", code: fault.StateCorrupt}
	w.states, w.indexer.States = store, store
	w.write(acme, "a", vm(1, "i-1"))
	w.catchUp()
	must(t, w.door.Delete(t.Context(), owner(acme), "a", ""))
	for range 3 {
		w.now = w.now.Add(24 * time.Hour)
		w.catchUp()
	}
	w.wantUnread("")
	if store.tries != 1 {
		t.Errorf("read %d times", store.tries)
	}
}

func (w *world) wantUnread(code fault.Code) {
	w.t.Helper()
	page, err := w.service.Search(context.Background(), owner(acme), resources.Query{Limit: 1})
	must(w.t, err)
	var got fault.Code
	for _, one := range page.Unread {
		got = one.Unread
	}
	if got != code {
		w.t.Errorf("unread for %q, want %q", got, code)
	}
}

package statetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// wantTip holds a store that tells tips to what Current has just shown. A store that none but
// its own process writes to need not tell any.
func wantTip(t *testing.T, store state.Store, ref state.Ref, want state.Tip) {
	t.Helper()
	newest, ok := store.(state.Newest)
	if !ok {
		return
	}
	tips, err := newest.Newest(context.Background(), []state.Ref{ref})
	if err != nil || len(tips) != 1 {
		t.Fatalf("Newest: %d tips, %v", len(tips), err)
	}
	if !tips[0].Is(want) {
		t.Fatalf("Newest is %+v, want %+v", tips[0], want)
	}
}

// checkNewest takes a state through all that may become of its newest version.
func checkNewest(t *testing.T, store state.Store) {
	ref, event := newRef("tip"), audit.Event{At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Action: audit.StateWrite}
	none := state.Tip{}
	wantTip(t, store, ref, none)
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "plan")}))
	wantTip(t, store, ref, none) // locked, never written
	first := put(t, store, ref, stateBody(1, "one")).Version
	wantTip(t, store, state.Ref{Org: newRef("").Org, Name: ref.Name}, none) // another organization's
	second := put(t, store, ref, stateBody(2, "two")).Version
	wantTip(t, store, ref, second.Tip())
	update(t, store, ref, nil, always(state.Change{Release: true}))
	wantTip(t, store, ref, second.Tip()) // what locks do is not seen
	if err := store.Purge(t.Context(), ref, first.Number, event); err != nil {
		t.Fatal(err)
	}
	wantTip(t, store, ref, second.Tip()) // an old one's bytes went
	update(t, store, ref, nil, always(state.Change{Delete: true, At: event.At}))
	wantTip(t, store, ref, none)
	update(t, store, ref, nil, always(state.Change{Undelete: true}))
	wantTip(t, store, ref, second.Tip())
	if err := store.Purge(t.Context(), ref, second.Number, event); err != nil {
		t.Fatal(err)
	}
	_, err := store.Current(t.Context(), ref)
	suite.Fault(t, "Current of what was purged", err, fault.VersionPurged)
	wantTip(t, store, ref, none)
	checkNewestAnew(t, store)
	checkNewestOfMany(t, store)
}

// checkNewestAnew has a state come back under its name: the numbers begin anew, and may have the
// bytes of the former one.
func checkNewestAnew(t *testing.T, store state.Store) {
	ref, body := newRef("again"), stateBody(1, "same")
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	former := put(t, store, ref, body).Version.Tip()
	update(t, store, ref, nil, always(state.Change{Delete: true, At: at}))
	done := false
	for tries := 0; !done; tries++ {
		var err error
		if done, err = store.Expunge(t.Context(), ref, at.Add(time.Hour), 10,
			audit.Event{At: at, Action: audit.StateWrite}); err != nil || tries > 9 {
			t.Fatalf("Expunge: %v after %d tries", err, tries)
		}
	}
	wantTip(t, store, ref, state.Tip{})
	later := describe(body)
	later.CreatedAt = later.CreatedAt.Add(time.Microsecond)
	now := update(t, store, ref, body, accept(later)).Version.Tip()
	wantTip(t, store, ref, now)
	if now.Is(former) {
		t.Fatalf("nothing tells %+v from the version before the state was expunged", now)
	}
}

// checkNewestOfMany asks for as many as may be asked for, some of them twice, of two organizations.
func checkNewestOfMany(t *testing.T, store state.Store) {
	newest, ok := store.(state.Newest)
	if !ok {
		return
	}
	refs, want := make([]state.Ref, state.MostNewest), make([]state.Tip, state.MostNewest)
	one, other := newRef("many"), newRef("many")
	for i := range refs {
		refs[i] = state.Ref{Org: one.Org, Name: state.Name(fmt.Sprint("state", i/2))}
		switch {
		case i%10 == 1:
			refs[i], want[i] = refs[i-1], want[i-1]
		case i%10 == 0:
			want[i] = put(t, store, refs[i], stateBody(uint64(i), fmt.Sprint(i))).Version.Tip()
		case i%10 == 5:
			refs[i].Org = other.Org
		}
	}
	got, err := newest.Newest(t.Context(), refs)
	if err != nil || len(got) != len(want) {
		t.Fatalf("Newest of %d: %d, %v", len(refs), len(got), err)
	}
	for i := range want {
		if !got[i].Is(want[i]) {
			t.Fatalf("Newest %d, of %v, is %+v, want %+v", i, refs[i], got[i], want[i])
		}
	}
	if got, err := newest.Newest(t.Context(), nil); err != nil || len(got) != 0 {
		t.Fatalf("Newest of none: %v, %v", got, err)
	}
}

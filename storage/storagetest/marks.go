package storagetest

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
)

// RunMarker holds a state.Marker to its contract: whatever changes what Head or Current return
// changes the mark, and nothing else makes two states' marks the same. open returns a new, empty
// store, which is a state.Marker and which the suite closes.
func RunMarker(t *testing.T, open func(t *testing.T) state.Store) {
	t.Run("Changes", func(t *testing.T) { checkMarks(t, openChecked(t, open)) })
	t.Run("Many", func(t *testing.T) { checkManyMarks(t, openChecked(t, open)) })
}

// marked returns the mark of a state, and holds two looks to the same one.
func marked(t *testing.T, store state.Store, ref state.Ref) state.Mark {
	t.Helper()
	var got []state.Mark
	for range 2 {
		marks, err := store.(state.Marker).Marks(t.Context(), []state.Ref{ref})
		if err != nil || len(marks) != 1 {
			t.Fatalf("Marks: %+v, %v", marks, err)
		}
		got = append(got, marks[0])
	}
	wantEqual(t, "the mark, read again", got[0], got[1])
	head, err := store.Head(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	m := got[0]
	if m.Version != head.Version.Number || m.Digest != head.Version.Digest || m.Deleted != head.Deleted || m.Purged != head.Version.Purged {
		t.Errorf("the mark %+v is not that of the head %+v", m, head)
	}
	return m
}

// checkMarks changes a state in every way.
func checkMarks(t *testing.T, store state.Store) {
	ref, body := newRef("marked"), stateBody(1, "")
	if m := marked(t, store, ref); m != (state.Mark{}) {
		t.Errorf("the mark of a state that was never written is %+v", m)
	}
	seen := map[state.Mark]string{}
	var of int64
	step := func(what string, change func()) {
		t.Helper()
		change()
		m := marked(t, store, ref)
		if before, ok := seen[m]; ok {
			t.Errorf("the mark after %s is the same as after %s", what, before)
		}
		if m.State == 0 || of != 0 && m.State != of {
			t.Errorf("after %s the mark is of state %d, before of %d", what, m.State, of)
		}
		of, seen[m] = m.State, what
	}
	changed := func(c state.Change) func() { return func() { update(t, store, ref, nil, always(c)) } }
	step("a lock", changed(state.Change{Lock: newLock(t, "a")}))
	step("a write", func() { put(t, store, ref, body) })
	step("a sign of life", changed(state.Change{Seen: true, At: noon().Add(time.Hour)}))
	step("the same write again", func() { put(t, store, ref, body) })
	step("its end", changed(state.Change{Release: true}))
	step("a deletion", changed(state.Change{Delete: true, At: noon()}))
	step("its undoing", changed(state.Change{Undelete: true}))
	step("a fence", changed(state.Change{Fence: &state.Fence{Run: "01J", Epoch: 1, Open: true}}))
	step("an announcement", changed(state.Change{Expect: expected("because")}))
	step("a purge", func() { purge(t, store, ref, 2) })
	step("another deletion", changed(state.Change{Delete: true, At: noon()}))
	expunge(t, store, ref, noon().Add(time.Hour))
	if m := marked(t, store, ref); m != (state.Mark{}) {
		t.Errorf("the mark of a state that was removed is %+v", m)
	}
	put(t, store, ref, body)
	if m := marked(t, store, ref); m.State == of || m.State == 0 {
		t.Errorf("a state of the name of another one has its mark: %+v", m)
	}
}

// checkManyMarks asks for many at once, some of which are unknown or asked for twice.
func checkManyMarks(t *testing.T, store state.Store) {
	var refs []state.Ref
	for i := range 50 {
		ref := newRef(state.Name([]string{"a", "b", "a/b"}[i%3]))
		if i%4 > 0 {
			put(t, store, ref, stateBody(uint64(i), ""))
		}
		refs = append(refs, ref)
	}
	refs = append(refs, refs[1], refs[0])
	got, err := store.(state.Marker).Marks(t.Context(), refs)
	if err != nil || len(got) != len(refs) {
		t.Fatalf("%d marks, %v; want %d", len(got), err, len(refs))
	}
	for i, ref := range refs {
		wantEqual(t, "the mark of one of many", marked(t, store, ref), got[i])
	}
	if none, err := store.(state.Marker).Marks(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("Marks of nothing: %+v, %v", none, err)
	}
}

package storagetest

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/state"
)

// RunDurable holds an engine to what survives its process. open opens the store in a
// directory, a new one or one that was used before; the suite closes it. The engine's
// TestMain has to call ChildMain.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	t.Run("Reopen", func(t *testing.T) { checkReopen(t, open) })
	t.Run("Kill", func(t *testing.T) { checkKill(t, open) })
}

// checkReopen closes a store, opens it again and finds everything in its place.
func checkReopen(t *testing.T, open func(t *testing.T, dir string) state.Store) {
	dir := t.TempDir()
	store := open(t, dir)
	all := fill(t, store)
	for range 2 {
		mustClose(t, store)
		store = open(t, dir)
		for ref, want := range all {
			want.check(t, store, ref)
		}
	}
	ref := newRef("after")
	put(t, store, ref, stateBody(1, ""))
	mustClose(t, store)
}

// history is all that a store knows of a state.
type history struct {
	head     state.Head
	versions []state.Snapshot
}

func (h history) check(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	wantHead(t, store, ref, h.head)
	for _, version := range h.versions {
		wantVersion(t, store, ref, version)
	}
	if h.head.Exists() {
		wantCurrent(t, store, ref, h.versions[len(h.versions)-1])
	} else {
		wantAbsent(t, store, ref)
	}
}

// fill puts states of every kind into the store.
func fill(t *testing.T, store state.Store) map[state.Ref]history {
	t.Helper()
	all := map[state.Ref]history{}
	for i, name := range []state.Name{"written", "locked", "released", "deleted", "re-created", "only/locked"} {
		for range 2 { // organizations
			ref, h := newRef(name), history{}
			write := func(size int) {
				body := stateBody(uint64(i), strings.Repeat("x", size))
				h.head = put(t, store, ref, body)
				h.versions = append(h.versions, state.Snapshot{Version: h.head.Version, Body: body})
			}
			change := func(c state.Change) { h.head = update(t, store, ref, nil, always(c)) }
			if name != "only/locked" {
				write(0)
				write(1 << 20)
			}
			switch name {
			case "locked", "only/locked":
				change(state.Change{Lock: newLock(t, "held")})
			case "released":
				change(state.Change{Lock: newLock(t, "last")})
				change(state.Change{Release: true})
			case "deleted", "re-created":
				change(state.Change{Delete: true})
			}
			if name == "re-created" {
				write(100)
			}
			all[ref] = h
		}
	}
	return all
}

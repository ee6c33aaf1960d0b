package statetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkIsolation gives several organizations the same names and takes turns between them.
func checkIsolation(t *testing.T, store state.Store) {
	// The second differs from the first in its last bit, the third holds bytes that text
	// columns and patterns trip over.
	orgs := []uuid.UUID{{1}, {1, 15: 1}, {0, '%', '_', '\'', 0xff}}
	names := []state.Name{"app", "app/prod"}
	last := map[state.Ref]state.Snapshot{}
	for turn := range uint64(3) {
		for i, org := range orgs {
			for _, name := range names[:1+i%2] {
				ref := state.Ref{Org: org, Name: name}
				body := stateBody(turn, fmt.Sprint(org, name))
				head := put(t, store, ref, body)
				if head.Version.Number != turn+1 {
					t.Fatalf("write %d of %v has the number %d", turn+1, ref, head.Version.Number)
				}
				last[ref] = state.Snapshot{Version: head.Version, Body: body}
			}
		}
	}
	mine := state.Ref{Org: orgs[0], Name: "app"}
	update(t, store, mine, nil, always(state.Change{Lock: newLock(t, "mine"), Delete: true}))
	delete(last, mine)
	for ref, want := range last {
		wantCurrent(t, store, ref, want)
		wantHead(t, store, ref, state.Head{Version: want.Version})
	}
	wantStranger(t, store, state.Ref{Org: orgs[0], Name: "app/prod"})
	wantStranger(t, store, state.Ref{Org: uuid.UUID{1, 15: 2}, Name: "app"})
}

// wantStranger holds the store to knowing nothing of ref.
func wantStranger(t *testing.T, store state.Store, ref state.Ref) {
	t.Helper()
	wantAbsent(t, store, ref)
	wantHead(t, store, ref, state.Head{})
	_, err := store.Version(t.Context(), ref, 1)
	suite.Fault(t, "Version(1)", err, fault.StateNotFound)
}

// checkNames uses names that a careless store takes for one another.
func checkNames(t *testing.T, store state.Store) {
	org := uuid.New()
	names := []string{
		"a", "A", "a/b", "a/B", "a.b", "a_b", "a-b", "a~b", "aXb", "a/b/c", "...", "a..b", "0", "00", "-",
		"CON", "lock/a", "a/lock/a", "versions/1", strings.Repeat("n", state.MaxNameLength),
		strings.Repeat("n", state.MaxNameLength-1),
	}
	want := map[state.Ref]state.Snapshot{}
	for i, text := range names {
		name, err := state.ParseName(text)
		if err != nil {
			t.Fatal(err)
		}
		ref := state.Ref{Org: org, Name: name}
		wantStranger(t, store, ref)
		body := stateBody(uint64(i), text)
		want[ref] = state.Snapshot{Version: put(t, store, ref, body).Version, Body: body}
	}
	for ref, snapshot := range want {
		wantCurrent(t, store, ref, snapshot)
	}
}

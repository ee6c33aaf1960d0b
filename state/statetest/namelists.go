package statetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// treeOf stores states in folders, of some kinds, and returns the names of those that exist, in order.
func treeOf(t *testing.T, store state.Store, org uuid.UUID) (existing []state.Name) {
	existing = []state.Name{"dev", "dev/queue", "prod/DB/one", "prod/DB/two", "prod/db", "prod/net", "prod/network/eu",
		"prod0"}
	for _, name := range append(slices.Clone(existing), "prod/gone", "prod/network/gone") {
		put(t, store, state.Ref{Org: org, Name: name}, stateBody(1, string(name)))
		put(t, store, state.Ref{Org: uuid.New(), Name: name}, stateBody(1, ""))
	}
	for _, name := range []state.Name{"prod/gone", "prod/network/gone"} {
		update(t, store, state.Ref{Org: org, Name: name}, nil, always(state.Change{Delete: true, At: noon()}))
	}
	held := state.Change{Candidate: candidate("c", nil)}
	for _, name := range []state.Name{"prod/brought", "prod/net"} {
		update(t, store, state.Ref{Org: org, Name: name}, nil, always(held))
	}
	update(t, store, state.Ref{Org: org, Name: "prod/locked"}, nil, always(state.Change{Lock: newLock(t, "x")}))
	existing = append(existing, "prod/brought")
	slices.Sort(existing)
	return existing
}

// checkNameLists reads the names of states that exist, whole and by any number, below prefixes and from
// behind texts that are no state's name.
func checkNameLists(t *testing.T, store state.Store) {
	org := uuid.New()
	existing := treeOf(t, store, org)
	for _, prefix := range []string{"", "prod", "prod/", "prod/network/", "none/"} {
		for _, after := range []state.Name{"", "dev", "prod/DB/\x7f", "prod/net", "\x7f"} {
			want := slices.DeleteFunc(slices.Clone(existing), func(n state.Name) bool {
				return !strings.HasPrefix(string(n), prefix) || n <= after
			})
			for _, limit := range []int{1, 2, 100} {
				got := []state.Name{}
				for at, calls := after, 0; ; calls++ {
					names, next, err := store.Names(t.Context(), org, prefix, at, limit)
					if err != nil || len(names) > limit || next != "" && next <= at || calls > 20 {
						t.Fatalf("Names(%q, %q, %d): %q, on behind %q, %v", prefix, at, limit, names, next, err)
					}
					if got = append(got, names...); next == "" {
						break
					}
					at = next
				}
				if !slices.Equal(got, want) {
					t.Errorf("Names(%q, %q) by %d: %q, want %q", prefix, after, limit, got, want)
				}
			}
		}
	}
	if names, next, err := store.Names(t.Context(), uuid.New(), "", "", 9); len(names) > 0 || next != "" || err != nil {
		t.Errorf("the names of nobody: %q, %q, %v", names, next, err)
	}
}

// checkPicks lists states that are directly below a prefix, that have letters in their names, and that
// have open candidates.
func checkPicks(t *testing.T, store state.Store) {
	org := uuid.New()
	all := treeOf(t, store, org)
	for _, q := range []state.StatesQuery{{Direct: true}, {Direct: true, Prefix: "prod/"}, {Direct: true, Prefix: "prod"},
		{Contains: "db"}, {Contains: "/ne"}, {Contains: "%"}, {Contains: "_"}, {Contains: "db", Prefix: "prod/D"},
		{Held: true}, {Held: true, Contains: "net"}, {Direct: true, Held: true}} {
		want := slices.DeleteFunc(slices.Clone(all), func(n state.Name) bool {
			return !strings.HasPrefix(string(n), q.Prefix) || !q.Picks(n, n == "prod/brought" || n == "prod/net")
		})
		for _, q.Limit = range []int{1, 100} {
			wantNames(t, store, org, q, want)
		}
	}
	wantNames(t, store, org, state.StatesQuery{Limit: 9, Deleted: state.OnlyDeleted, Prefix: "prod/", Direct: true},
		[]state.Name{"prod/gone"})
	wantNames(t, store, org, state.StatesQuery{Limit: 9, Deleted: state.OnlyDeleted, Contains: "work"},
		[]state.Name{"prod/network/gone"})
	wantNames(t, store, org, state.StatesQuery{Limit: 9, Deleted: state.AnyDeletion, Contains: "gone"},
		[]state.Name{"prod/gone", "prod/network/gone"})
	wantNames(t, store, org, state.StatesQuery{Limit: 9, Locked: true, Contains: "nothing"}, []state.Name{"prod/locked"})
}

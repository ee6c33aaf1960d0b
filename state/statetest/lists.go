package statetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkStates lists states whose names a careless order, prefix or pattern takes for one
// another, whole and in pages of every size.
func checkStates(t *testing.T, store state.Store) {
	org := uuid.New()
	names := []state.Name{"-", "...", "0", "A", "Z", "_", "a", "a%b", "a-b", "a.b", "a/b", "a/b/c", "a0", "aB", "a_b",
		"ab", "a~", "a~b", "b", "~", "~~"}
	names = slices.DeleteFunc(names, func(n state.Name) bool { _, err := state.ParseName(string(n)); return err != nil })
	for _, name := range names {
		put(t, store, state.Ref{Org: org, Name: name}, stateBody(1, string(name)))
		put(t, store, state.Ref{Org: uuid.New(), Name: name}, stateBody(1, ""))
	}
	slices.Sort(names)
	for _, prefix := range []string{"", "a", "a/", "a_", "a.", "a~", "~", "%", "a%", "_", "b", "c", "é", "!", "\x00",
		"\x7f"} {
		want := slices.DeleteFunc(slices.Clone(names),
			func(n state.Name) bool { return len(n) < len(prefix) || string(n[:len(prefix)]) != prefix })
		for _, limit := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%q by %d", prefix, limit), func(t *testing.T) {
				wantNames(t, store, org, state.StatesQuery{Prefix: prefix, Limit: limit}, want)
			})
		}
	}
	listed, err := listStates(t.Context(), store, org, state.StatesQuery{Prefix: "a", After: "A", Limit: 1})
	if err != nil || len(listed) != 1 || listed[0].Name != "a" {
		t.Errorf("After before the prefix: %v, %v", listed, err)
	}
	listed, err = listStates(t.Context(), store, org, state.StatesQuery{Prefix: "a", After: "b", Limit: 9})
	if err != nil || len(listed) != 0 {
		t.Errorf("After behind the prefix: %v, %v", listed, err)
	}
}

// wantNames reads all pages of a list, and holds every head to what Head says, and every
// count to what Candidates says.
func wantNames(t *testing.T, store state.Store, org uuid.UUID, q state.StatesQuery, want []state.Name) {
	t.Helper()
	got := []state.Name{}
	for {
		page, err := listStates(t.Context(), store, org, q)
		if err != nil || len(page) > q.Limit {
			t.Fatalf("States(%+v): %d of them, %v", q, len(page), err)
		}
		for _, one := range page {
			ref := state.Ref{Org: org, Name: one.Name}
			wantHead(t, store, ref, one.Head)
			if open, err := store.Candidates(t.Context(), ref, "", 0); err != nil || len(open) != one.OpenCandidates {
				t.Errorf("States: %s has %d open candidates; Candidates: %d, %v", one.Name, one.OpenCandidates, len(open), err)
			}
			got = append(got, one.Name)
		}
		if len(page) < q.Limit {
			break
		}
		q.After = page[len(page)-1].Name
	}
	suite.Equal(t, fmt.Sprintf("States(%+v)", q), append([]state.Name{}, want...), got)
}

// checkStatesKinds lists states of every kind by what is asked for.
func checkStatesKinds(t *testing.T, store state.Store) {
	org := uuid.New()
	make := func(name state.Name, changes ...state.Change) {
		ref := state.Ref{Org: org, Name: name}
		if name[0] == 'w' {
			put(t, store, ref, stateBody(1, ""))
		}
		for _, change := range changes {
			update(t, store, ref, nil, always(change))
		}
	}
	lock, free, gone := state.Change{Lock: newLock(t, "x")}, state.Change{Release: true},
		state.Change{Delete: true, At: noon()}
	make("written")
	make("w-locked", lock)
	make("w-freed", lock, free)
	make("w-deleted", gone)
	make("w-deleted-locked", gone, lock)
	make("w-undeleted", gone, state.Change{Undelete: true})
	brought, ended := state.Change{Candidate: candidate("c", nil)}, state.Change{Settle: settle("c", state.Discarded)}
	make("w-brought", brought)
	make("w-deleted-brought", brought, gone)
	make("brought", brought, state.Change{Candidate: candidate("d", nil)})
	make("brought-ended", brought, ended)
	make("brought-locked", brought, lock)
	make("locked", lock)
	make("freed", lock, free)
	living := []state.Name{"brought", "brought-locked", "w-brought", "w-freed", "w-locked", "w-undeleted", "written"}
	wantNames(t, store, org, state.StatesQuery{Limit: 2}, living)
	all := []state.Name{"brought", "brought-locked", "w-brought", "w-deleted", "w-deleted-brought", "w-deleted-locked",
		"w-freed", "w-locked", "w-undeleted", "written"}
	wantNames(t, store, org, state.StatesQuery{Limit: 2, Deleted: state.AnyDeletion}, all)
	wantNames(t, store, org, state.StatesQuery{Limit: 1, Deleted: state.OnlyDeleted},
		[]state.Name{"w-deleted", "w-deleted-brought", "w-deleted-locked"})
	wantNames(t, store, org, state.StatesQuery{Limit: 2, Locked: true},
		[]state.Name{"brought-locked", "locked", "w-deleted-locked", "w-locked"})
	wantNames(t, store, org, state.StatesQuery{Limit: 2, Locked: true, Prefix: "w-d"}, []state.Name{"w-deleted-locked"})
	wantNames(t, store, uuid.New(), state.StatesQuery{Limit: 2, Deleted: state.AnyDeletion}, nil)
}

// checkVersionList reads a state's history in pages.
func checkVersionList(t *testing.T, store state.Store) {
	ref := newRef("history")
	wantVersions(t, store, ref, 0, 10, nil)
	var all []state.Version
	for i := range uint64(7) {
		body := stateBody(i, "")
		v := describe(body)
		v.Resources, v.Warnings, v.Origin = int(i)-1, state.Warnings(i),
			state.Origin{Version: i, Candidate: fmt.Sprint(i), Reason: "because\x00"}
		v.Author.Subject = "repo:acme/app:ref:refs/heads/main"
		all = append([]state.Version{update(t, store, ref, body, accept(v)).Version}, all...)
	}
	check := func() {
		t.Helper()
		for _, before := range []uint64{0, 1, 4, 8, 100, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
			for _, limit := range []int{1, 3, 100} {
				want := slices.DeleteFunc(slices.Clone(all), func(v state.Version) bool { return before > 0 && v.Number >= before })
				wantVersions(t, store, ref, before, limit, want[:min(limit, len(want))])
			}
		}
	}
	check()
	update(t, store, ref, nil, always(state.Change{Delete: true}))
	check()
	purge(t, store, ref, 3)
	all[7-3].Purged = true
	check()
	if n, err := store.Prune(t.Context(), ref, state.Pruning{Below: 3, Limit: 9}, happened("prune")); n != 2 ||
		err != nil {
		t.Fatalf("Prune: %d, %v", n, err)
	}
	all = all[:5]
	check()
	wantVersions(t, store, state.Ref{Org: uuid.New(), Name: ref.Name}, 0, 10, nil)
}

func wantVersions(t *testing.T, store state.Store, ref state.Ref, before uint64, limit int, want []state.Version) {
	t.Helper()
	got, err := store.Versions(t.Context(), ref, before, limit)
	if err != nil {
		t.Fatalf("Versions: %v", err)
	}
	suite.Equal(t, fmt.Sprintf("Versions before %d, at most %d", before, limit), append([]state.Version{}, want...),
		append([]state.Version{}, got...))
}

// checkAll walks all states while others are written: each that was there when it began is
// met once.
func checkAll(t *testing.T, store state.Store) {
	want := map[state.Ref]int{}
	for range 6 { // organizations
		org := uuid.New()
		for i := range 9 {
			ref := state.Ref{Org: org, Name: state.Name(fmt.Sprint("s", i))}
			put(t, store, ref, stateBody(1, ""))
			want[ref] = 0
		}
		deleted := state.Ref{Org: org, Name: "s3"}
		update(t, store, deleted, nil, always(state.Change{Delete: true}))
		update(t, store, state.Ref{Org: org, Name: "never"}, nil, always(state.Change{Release: true})) // leaves nothing
	}
	suite.Together(t, 3, func(ctx context.Context, worker int) error {
		if worker == 0 {
			return walkAll(ctx, store, want)
		}
		for i := range 40 {
			body := stateBody(uint64(i), "")
			if _, err := store.Update(ctx, newRef("new"), body, accept(describe(body))); err != nil {
				return err
			}
		}
		return nil
	})
	for ref, n := range want {
		if n != 1 {
			t.Errorf("%v was met %d times", ref, n)
		}
	}
}

// walkAll counts how often each state is met.
func walkAll(ctx context.Context, store state.Store, met map[state.Ref]int) error {
	var after state.Ref
	for {
		page, err := store.All(ctx, after, 4)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, one := range page {
			if one.Head.Version.Number == 0 || one.Head.Deleted != (one.Ref.Name == "s3") {
				return fmt.Errorf("%v has the head %+v", one.Ref, one.Head)
			}
			if _, ok := met[one.Ref]; ok {
				met[one.Ref]++
			}
		}
		after = page[len(page)-1].Ref
	}
}

package sqlpulls_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlpulls"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

// onEach runs a test on a new store in a file, and, where deep tests run, in memory and on a MySQL-protocol server.
// There one and other are of two nodes; else they are the same.
func onEach(t *testing.T, test func(t *testing.T, one, other *sqlpulls.Store)) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, shared bool) {
		one := open(t, o)
		other := one
		if shared {
			other = open(t, o)
		}
		test(t, one, other)
	})
}

func open(t *testing.T, o sqldb.Options) *sqlpulls.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { suite.Close(t, db) })
	return sqlpulls.New(db)
}

func at(n int) time.Time { return time.Date(2026, 11, 2, 9, 0, n, 0, time.UTC) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestClaims(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlpulls.Store) {
		ctx := t.Context()
		ref := pulls.Ref{Org: uuid.New(), Repository: "infra", Number: 7}
		if _, _, ok, err := one.Claim(ctx, ref, "a", at(5), at(9)); err != nil || ok {
			t.Error("what is not there was claimed", err)
		}
		check(t, one.Hint(ctx, ref, at(1)))
		if _, _, ok, err := one.Claim(ctx, ref, "a", at(0), at(9)); err != nil || ok {
			t.Error("what is not due was claimed", err)
		}
		p, _, ok, err := one.Claim(ctx, ref, "a", at(2), at(9))
		if err != nil || !ok || p.Ref != ref {
			t.Fatal(p, ok, err)
		}
		if due, err := other.Due(ctx, at(8), 10); err != nil || len(due) > 0 {
			t.Error("what is claimed is due", due, err)
		}
		p.At, p.Key = forge.PullRequest{Number: 7, Title: "über 😀"}, "k"
		if kept, err := one.Save(ctx, p, "a"); err != nil || !kept {
			t.Error(kept, err)
		}
		// The claim is over, and somebody else goes on.
		q, _, ok, err := other.Claim(ctx, ref, "b", at(10), at(20))
		if err != nil || !ok || q.Key != "k" || q.At != p.At || q.Revision != p.Revision+1 {
			t.Fatal(q, ok, err)
		}
		if kept, err := one.Save(ctx, p, "a"); err != nil || kept {
			t.Error("who has lost the claim saved", err)
		}
		check(t, one.Finish(ctx, ref, "a", 1, at(11), at(12)))
		if kept, err := other.Save(ctx, q, "b"); err != nil || !kept {
			t.Error("who has lost the claim ended that of another", err)
		}
		check(t, other.Finish(ctx, ref, "b", 1, at(11), time.Time{}))
		if due, err := one.Due(ctx, at(1000), 10); err != nil || len(due) > 0 {
			t.Error("what is never due is", due, err)
		}
	})
}

func TestHintsDuringAClaim(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlpulls.Store) {
		ctx := t.Context()
		ref := pulls.Ref{Org: uuid.New(), Repository: "infra", Number: 7}
		check(t, one.Hint(ctx, ref, at(1)))
		_, n, _, err := one.Claim(ctx, ref, "a", at(1), at(9))
		check(t, err)
		check(t, other.Hint(ctx, ref, at(3))) // while it is looked at
		check(t, one.Finish(ctx, ref, "a", n, at(4), at(600)))
		due, err := other.Due(ctx, at(4), 10)
		if err != nil || len(due) != 1 || due[0] != ref {
			t.Error("a hint was lost", due, err)
		}
		_, n, _, err = one.Claim(ctx, ref, "b", at(5), at(9))
		check(t, err)
		check(t, one.Finish(ctx, ref, "b", n, at(6), at(600)))
		if due, err = other.Due(ctx, at(599), 10); err != nil || len(due) > 0 {
			t.Error("it is due too soon", due, err)
		}
		check(t, one.Hint(ctx, ref, at(700)))
		if due, err = other.Due(ctx, at(600), 10); err != nil || len(due) != 1 {
			t.Error("a hint made it due later", due, err)
		}
	})
}

// Resting finds what is over, of all organizations, and Remove removes it unless something has happened since.
func TestResting(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlpulls.Store) {
		ctx := t.Context()
		var over []pulls.Ref
		for _, org := range []uuid.UUID{uuid.New(), uuid.New()} {
			for number := range int64(4) {
				ref := pulls.Ref{Org: org, Repository: "infra", Number: number + 1}
				check(t, one.Hint(ctx, ref, at(1)))
				p, n, _, err := one.Claim(ctx, ref, "a", at(1), at(9))
				check(t, err)
				if number == 3 {
					continue // it is claimed still
				}
				p.Closed = true
				if kept, err := one.Save(ctx, p, "a"); err != nil || !kept {
					t.Fatal(kept, err)
				}
				next := time.Time{}
				if number == 2 {
					next = at(100)
				} else {
					over = append(over, ref)
				}
				check(t, one.Finish(ctx, ref, "a", n, at(2), next))
			}
		}
		var found []pulls.Pull
		for after := (pulls.Ref{}); ; {
			page, err := other.Resting(ctx, after, 3)
			check(t, err)
			if found = append(found, page...); len(page) < 3 {
				break
			}
			after = page[2].Ref
		}
		got := map[pulls.Ref]bool{}
		for _, p := range found {
			got[p.Ref] = p.Closed
		}
		for _, ref := range over {
			if !got[ref] || len(found) != len(over) {
				t.Fatalf("found %+v, not %v", found, over)
			}
		}
		check(t, one.Hint(ctx, found[0].Ref, at(3)))
		for i, p := range found {
			removed, err := other.Remove(ctx, p)
			check(t, err)
			_, there, err := one.Pull(ctx, p.Ref)
			check(t, err)
			if removed != (i > 0) || there != (i == 0) {
				t.Errorf("%d was removed: %v, and is there: %v", i, removed, there)
			}
		}
	})
}

func TestConcurrentClaims(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlpulls.Store) {
		ref := pulls.Ref{Org: uuid.New(), Repository: "infra", Number: 7}
		check(t, one.Hint(t.Context(), ref, at(1)))
		var got atomic.Int64
		suite.Together(t, 8, func(ctx context.Context, worker int) error {
			store := []*sqlpulls.Store{one, other}[worker%2]
			_, _, ok, err := store.Claim(ctx, ref, fmt.Sprint(worker), at(2), at(9))
			if ok {
				got.Add(1)
			}
			return err
		})
		if got.Load() != 1 {
			t.Errorf("%d were given it", got.Load())
		}
	})
}

func TestLists(t *testing.T) {
	onEach(t, func(t *testing.T, one, _ *sqlpulls.Store) {
		ctx := t.Context()
		org, stranger := uuid.New(), uuid.New()
		for n := range int64(3) {
			check(t, one.Hint(ctx, pulls.Ref{Org: org, Repository: "a", Number: n + 1}, at(int(9-n))))
		}
		check(t, one.Hint(ctx, pulls.Ref{Org: org, Repository: "b", Number: 9}, at(1)))
		for repository, want := range map[string]int{"a": 3, "b": 1, "": 4, "c": 0} {
			all, err := one.Pulls(ctx, org, repository, 10)
			if err != nil || len(all) != want || repository == "" && all[0].Number != 9 {
				t.Errorf("%q: %+v, %v", repository, all, err)
			}
		}
		if all, err := one.Pulls(ctx, stranger, "", 10); err != nil || len(all) > 0 {
			t.Error("another organization sees", all, err)
		}
		if _, there, err := one.Pull(ctx, pulls.Ref{Org: stranger, Repository: "a", Number: 1}); err != nil || there {
			t.Error("another organization sees one", err)
		}
		if due, err := one.Due(ctx, at(100), 2); err != nil || len(due) != 2 || due[0].Number != 9 || due[1].Number != 3 {
			t.Error("not those that wait the longest", due, err)
		}
	})
}

func TestSettings(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlpulls.Store) {
		ctx, org := t.Context(), uuid.New()
		for _, want := range []pulls.Settings{{}, {Apply: "admin", Branch: "main"}, {Plan: "write"}} {
			if want != (pulls.Settings{}) {
				check(t, one.SetSettings(ctx, org, "infra", want))
			}
			if got, err := other.Settings(ctx, org, "infra"); err != nil || got != want {
				t.Errorf("%+v, %v", got, err)
			}
			if got, err := other.Settings(ctx, uuid.New(), "infra"); err != nil || got != (pulls.Settings{}) {
				t.Errorf("another organization's are %+v, %v", got, err)
			}
		}
		another := pulls.Ref{Org: org, Repository: "other", Number: 1}
		check(t, one.Hint(ctx, pulls.Ref{Org: org, Repository: "infra", Number: 1}, at(1)))
		check(t, one.Hint(ctx, another, at(1)))
		check(t, one.Forget(ctx, org, "infra"))
		if got, err := other.Settings(ctx, org, "infra"); err != nil || got != (pulls.Settings{}) {
			t.Errorf("forgotten, it wants %+v, %v", got, err)
		}
		if all, err := other.Pulls(ctx, org, "", 9); err != nil || len(all) != 1 || all[0].Ref != another {
			t.Errorf("left are %+v, %v", all, err)
		}
	})
}

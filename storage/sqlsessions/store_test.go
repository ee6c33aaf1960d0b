package sqlsessions_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlsessions"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

// onEach runs a test on a new store in a file, and, where deep tests run, in memory and on a MySQL-protocol server.
// There one and other are of two nodes; else they are the same.
func onEach(t *testing.T, test func(t *testing.T, one, other *sqlsessions.Store)) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, shared bool) {
		one := sqlsessions.New(open(t, o))
		other := one
		if shared {
			other = sqlsessions.New(open(t, o))
		}
		test(t, one, other)
	})
}

func open(t *testing.T, o sqldb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { suite.Close(t, db) })
	return db
}

var (
	acme   = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	start  = time.Date(2026, 11, 22, 12, 0, 0, 123456000, time.UTC)
)

// made is a session whose token has a number.
func made(org uuid.UUID, key string, n int) session.Session {
	at := start.Add(time.Duration(n) * time.Minute)
	return session.Session{
		Hash: session.Hash(sha256.Sum256(fmt.Append(nil, org, key, n))), Login: auth.Login{Org: org, KeyID: key},
		Began: at, Seen: at, Ends: at.Add(8 * time.Hour), Address: "192.0.2.1", Agent: "a browser",
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add adds sessions whose holders have room for them.
func add(t *testing.T, s *sqlsessions.Store, all ...session.Session) {
	t.Helper()
	for _, one := range all {
		_, err := s.Add(t.Context(), one, 1000)
		check(t, err)
	}
}

// wantAll wants a holder to have these sessions, in this order.
func wantAll(t *testing.T, s *sqlsessions.Store, of session.Holder, want ...session.Session) {
	t.Helper()
	got, err := s.Sessions(t.Context(), of)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v has %d sessions, %v:\n%+v\nwant\n%+v", of, len(got), err, got, want)
	}
}

// wantRemoved wants a call to have removed so many.
func wantRemoved(t *testing.T, what string, n int, err error, want int) {
	t.Helper()
	if n != want || err != nil {
		t.Fatalf("%s: removed %d, %v; want %d", what, n, err, want)
	}
}

func TestAdd(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		want := made(acme, "oidc.people", 1)
		want.Login.Subject, want.Login.Rule, want.Agent = "sub é", "f1", `"quoted"`
		add(t, one, want)
		for _, s := range []*sqlsessions.Store{one, other} {
			got, found, err := s.Session(t.Context(), acme, want.Hash)
			if err != nil || !found || got != want {
				t.Errorf("found %t, %v:\n%+v\nwant\n%+v", found, err, got, want)
			}
		}
		wantAll(t, other, want.Holder(), want)
	})
}

func TestHoldersAreBounded(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		bystander := made(acme, "b", 0)
		add(t, one, bystander)
		var kept []session.Session
		for n := range 40 {
			next := made(acme, "a", n)
			gone, err := []*sqlsessions.Store{one, other}[n%2].Add(t.Context(), next, 3)
			check(t, err)
			kept = append([]session.Session{next}, kept...)
			if want := kept[min(len(kept), 3):]; !slices.Equal(gone, want) {
				t.Fatalf("after %d: %+v made room, want %+v", n, gone, want)
			}
			kept = kept[:min(len(kept), 3)]
		}
		wantAll(t, other, bystander.Holder(), bystander)
		wantAll(t, one, session.Holder{Org: acme, KeyID: "a"}, kept...)
	})
}

// A clock that is behind does not make the new one go.
func TestNewestStays(t *testing.T) {
	onEach(t, func(t *testing.T, one, _ *sqlsessions.Store) {
		add(t, one, made(acme, "a", 100), made(acme, "a", 101))
		late := made(acme, "a", 1)
		_, err := one.Add(t.Context(), late, 1)
		check(t, err)
		wantAll(t, one, late.Holder(), late)
	})
}

// Those who sign in at once keep to the bound too.
func TestConcurrentAdds(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		suite.Together(t, 20, func(ctx context.Context, n int) error {
			_, err := []*sqlsessions.Store{one, other}[n%2].Add(ctx, made(acme, "a", n), 4)
			return err
		})
		all, err := one.Sessions(t.Context(), session.Holder{Org: acme, KeyID: "a"})
		if err != nil || len(all) != 4 {
			t.Errorf("%d sessions, %v", len(all), err)
		}
	})
}

func TestOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		ctx, ours, theirs := t.Context(), made(acme, "a", 1), made(globex, "a", 1)
		add(t, one, ours, theirs)
		if _, found, err := one.Session(ctx, globex, ours.Hash); found || err != nil {
			t.Errorf("another organization has the session: %v", err)
		}
		if removed, err := one.Remove(ctx, globex, ours.Hash); removed || err != nil {
			t.Errorf("another organization could remove it: %v", err)
		}
		check(t, one.Touch(ctx, globex, ours.Hash, start.Add(time.Hour)))
		n, err := other.RemoveAll(ctx, theirs.Holder())
		wantRemoved(t, "RemoveAll", n, err, 1)
		wantAll(t, one, ours.Holder(), ours)
	})
}

func TestTouch(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		ctx, a, b := t.Context(), made(acme, "a", 1), made(acme, "a", 2)
		add(t, one, a, b)
		later := start.Add(time.Hour)
		check(t, other.Touch(ctx, acme, a.Hash, later))
		check(t, other.Touch(ctx, acme, a.Hash, start)) // from a node whose clock is behind
		a.Seen = later
		wantAll(t, one, a.Holder(), a, b)
		_, err := one.Remove(ctx, acme, a.Hash)
		check(t, err)
		check(t, other.Touch(ctx, acme, a.Hash, later.Add(time.Hour)))
		wantAll(t, one, b.Holder(), b)
	})
}

func TestRemove(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		ctx, a, b := t.Context(), made(acme, "a", 1), made(acme, "a", 2)
		add(t, one, a, b)
		if removed, err := one.Remove(ctx, acme, a.Hash); !removed || err != nil {
			t.Errorf("not removed, %v", err)
		}
		if removed, err := other.Remove(ctx, acme, a.Hash); removed || err != nil {
			t.Errorf("removed twice, %v", err)
		}
		if _, found, err := other.Session(ctx, acme, a.Hash); found || err != nil {
			t.Errorf("it is still there, %v", err)
		}
		wantAll(t, other, b.Holder(), b)
	})
}

func TestRemoveAll(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		a, person, second := made(acme, "a", 1), made(acme, "oidc.people", 1), made(acme, "oidc.people", 2)
		person.Login.Subject, second.Login.Subject = "ana", "bob"
		add(t, one, a, made(acme, "a", 2), person, second)
		n, err := other.RemoveAll(t.Context(), a.Holder())
		wantRemoved(t, "of a key", n, err, 2)
		n, err = one.RemoveAll(t.Context(), person.Holder())
		wantRemoved(t, "of one person", n, err, 1)
		wantAll(t, one, a.Holder())
		wantAll(t, one, second.Holder(), second)
	})
}

func TestSweep(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqlsessions.Store) {
		idle, over, going := made(acme, "a", 1), made(globex, "a", 2), made(acme, "a", 3)
		over.Seen, over.Ends = start.Add(5*time.Hour), start.Add(5*time.Hour)
		going.Seen = start.Add(4 * time.Hour)
		add(t, one, idle, over, going)
		now := start.Add(5 * time.Hour)
		for _, want := range []int{2, 0} { // seen an hour ago is not before
			n, err := other.Sweep(t.Context(), now, now.Add(-time.Hour), 100)
			wantRemoved(t, "Sweep", n, err, want)
		}
		wantAll(t, one, going.Holder(), going)
	})
}

func TestSweepIsBounded(t *testing.T) {
	onEach(t, func(t *testing.T, one, _ *sqlsessions.Store) {
		for n := range 7 {
			add(t, one, made(acme, "a", n))
		}
		for _, want := range []int{3, 3, 1, 0} {
			n, err := one.Sweep(t.Context(), start.Add(100*time.Hour), start.Add(99*time.Hour), 3)
			wantRemoved(t, "Sweep", n, err, want)
		}
	})
}

// What was acknowledged is there after a restart.
func TestSessionsOutliveTheProcess(t *testing.T) {
	o, ctx := sqldbtest.InFile(t), t.Context()
	one := session.Session{
		Hash: session.Hash{1}, Login: auth.Login{Org: uuid.New(), KeyID: "k"},
		Began: time.Unix(1, 0).UTC(), Seen: time.Unix(1, 0).UTC(), Ends: time.Unix(9, 0).UTC(),
	}
	db, err := sqldb.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlsessions.New(db).Add(ctx, one, 1); err != nil {
		t.Fatal(err)
	}
	suite.Close(t, db)
	if got, found, err := sqlsessions.New(open(t, o)).Session(ctx, one.Login.Org, one.Hash); err != nil || !found ||
		got != one {
		t.Errorf("%t, %v: %+v", found, err, got)
	}
}

// An organization that is shredded takes its sessions with it, and no others'.
func TestShred(t *testing.T) {
	db, ctx := open(t, sqldbtest.InFile(t)), t.Context()
	store, acme, globex := sqlsessions.New(db), uuid.New(), uuid.New()
	for i, org := range []uuid.UUID{acme, acme, globex} {
		if _, err := store.Add(ctx, session.Session{Hash: session.Hash{byte(i)}, Login: auth.Login{Org: org, KeyID: "k"}},
			9); err != nil {
			t.Fatal(err)
		}
	}
	for removed := 1; removed > 0; {
		var err error
		if removed, err = db.Shred(ctx, acme, 1); err != nil {
			t.Fatal(err)
		}
	}
	wantLeft(ctx, t, store, acme, 0)
	wantLeft(ctx, t, store, globex, 1)
}

func wantLeft(ctx context.Context, t *testing.T, store session.Store, org uuid.UUID, want int) {
	t.Helper()
	if all, err := store.Sessions(ctx, session.Holder{Org: org, KeyID: "k"}); err != nil || len(all) != want {
		t.Errorf("%d sessions, %v; want %d", len(all), err, want)
	}
}

package sqlauth_test

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/sqlauth"
	"github.com/holdfast/holdfast/storage/sqldb"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

// each runs a test on two nodes of one database on a server, and on one node of one in memory,
// which stands for both.
func each(t *testing.T, test func(t *testing.T, one, other *sqlauth.Store)) {
	t.Run("memory", func(t *testing.T) {
		s := open(t, sqldb.Options{})
		test(t, s, s)
	})
	t.Run("mysql", func(t *testing.T) {
		d := mysqltest.New(t)
		on := func() *sqlauth.Store {
			return open(t, sqldb.Options{MySQL: &mysqldb.Options{
				Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
				TLS: mysqldb.TLSOff, MaxOpenConns: 4, Log: slog.New(slog.DiscardHandler),
			}})
		}
		test(t, on(), on())
	})
}

func open(t *testing.T, o sqldb.Options) *sqlauth.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return sqlauth.New(db, nil)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add wants a text to become the newest one, or not.
func add(t *testing.T, s *sqlauth.Store, after uint64, text string, want bool) {
	t.Helper()
	added, err := s.Add(t.Context(), after, text, "test")
	if err != nil || added != want {
		t.Fatalf("Add after %d: %v, %v", after, added, err)
	}
}

// TestRevisions writes on one node and reads on the other.
func TestRevisions(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		none, err := other.Newest(t.Context())
		number, _, failed := other.Tip(t.Context())
		if err != nil || failed != nil || number != 0 || none != (authfile.Revision{}) {
			t.Fatalf("an empty database has %+v, %v, %d, %v", none, err, number, failed)
		}
		large := strings.Repeat("# é and more\n", 300_000) // in several pieces
		for i, text := range []string{"", "# one\n", large, "# three\r\n"} {
			add(t, one, uint64(i), text, true)
			add(t, other, uint64(i), "# too late\n", false)
			add(t, other, uint64(i)+2, "# too early\n", false)
			got, err := other.Newest(t.Context())
			if err != nil || got.Text != text || got.Number != uint64(i)+1 || got.By != "test" ||
				time.Since(got.At).Abs() > time.Hour {
				t.Fatalf("revision %d by %s at %v of %d bytes, %v", got.Number, got.By, got.At, len(got.Text), err)
			}
			if number, digest, err := other.Tip(t.Context()); err != nil || number != got.Number || len(digest) != 64 {
				t.Fatalf("Tip: %d, %s, %v", number, digest, err)
			}
		}
	})
}

// TestOneOfMany: of many who add after the same revision, one does.
func TestOneOfMany(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		for after := range uint64(3) {
			var added atomic.Int64
			var adding sync.WaitGroup
			for i := range 8 {
				adding.Go(func() {
					s := one
					if i%2 == 1 {
						s = other
					}
					if done, err := s.Add(t.Context(), after, "# text\n", "test"); err != nil {
						t.Error(err)
					} else if done {
						added.Add(1)
					}
				})
			}
			adding.Wait()
			if added.Load() != 1 {
				t.Fatalf("%d were added after %d", added.Load(), after)
			}
		}
	})
}

// TestOldRevisionsGo keeps the newest ones, of which there may be any number.
func TestOldRevisionsGo(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		for i := range uint64(50) {
			add(t, one, i, "# text\n", true)
		}
		if kept, err := other.Kept(t.Context()); err != nil || kept != 20 {
			t.Errorf("%d revisions are kept, %v", kept, err)
		}
	})
}

// TestCopies: nodes see one another, until they stop or are silent.
func TestCopies(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		a := copies.Copy{Node: uuid.NewString(), Name: "a:1", Revision: 7, Digest: strings.Repeat("a", 64), At: at,
			Shredded: copies.Order(uuid.New(), at)}
		b := copies.Copy{Node: uuid.NewString(), Name: "b:1", Digest: strings.Repeat("b", 64), At: at}
		must(t, one.Post(t.Context(), a))
		must(t, other.Post(t.Context(), b))
		a.Revision = 8
		must(t, one.Post(t.Context(), a))
		all, err := other.Copies(t.Context())
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, c := range all {
			want := a
			if c.Node == b.Node {
				want = b
			}
			if c.Silent < 0 || c.Silent > copies.Gone {
				t.Errorf("%s was silent for %v", c.Name, c.Silent)
			}
			if c.Silent = 0; c != want {
				t.Errorf("%+v, want %+v", c, want)
			}
		}
		must(t, one.Withdraw(t.Context(), a.Node))
		must(t, other.Age(t.Context(), copies.Gone+time.Second))
		all, err = one.Copies(t.Context())
		if err != nil || len(all) != 1 || len(copies.Running(all)) != 0 {
			t.Errorf("%+v, %v, want the one that never said that it stops, and none that runs", all, err)
		}
		must(t, other.Age(t.Context(), copies.Forgotten))
		if all, err := one.Copies(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// TestPostWaitsForNobody: a node that stops while it holds what nodes share keeps no other one silent, and
// the server ends its session soon.
func TestPostWaitsForNobody(t *testing.T) {
	d := mysqltest.New(t)
	s := open(t, sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 2, Log: slog.New(slog.DiscardHandler),
	}})
	if _, err := s.Add(t.Context(), 0, "# one\n", "x"); err != nil {
		t.Fatal(err)
	}
	stopped, err := d.Open(d.Name)
	must(t, err)
	defer stopped.Close()
	tx, err := stopped.BeginTx(t.Context(), nil)
	must(t, err)
	var org string
	must(t, tx.QueryRowContext(t.Context(), "SELECT org FROM organizations WHERE org = ? FOR UPDATE",
		uuid.Nil.String()).Scan(&org))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // less than the wait for a lock
	defer cancel()
	must(t, s.Post(ctx, copies.Copy{Node: "a", Name: "a:1", Revision: 1, Digest: "d", At: time.Now()}))
	must(t, s.Withdraw(ctx, "a"))
	if ctx.Err() != nil {
		t.Error("it waited for a node that has stopped")
	}
	must(t, tx.Rollback())
}

// TestUses merges what nodes saw: the latest counts, whoever wrote it and when.
func TestUses(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		org, stays := uuid.New(), uuid.New()
		key := lastuse.Credential{Org: org, ID: "3f9a0c62d1e7"}
		use := func(after time.Duration, from string) lastuse.Use { return lastuse.Use{At: at.Add(after), From: from} }
		must(t, one.NoteUses(t.Context(),
			lastuse.Uses{key: use(2, "192.0.2.2"), {Org: stays, ID: "a"}: use(0, "2001:db8::1")}))
		must(t, other.NoteUses(t.Context(),
			lastuse.Uses{key: use(-time.Minute, "192.0.2.1"), {Org: org, ID: "oidc.ci"}: use(0, "")}))
		must(t, other.NoteUses(t.Context(), lastuse.Uses{key: use(time.Minute, "192.0.2.3")}))
		must(t, one.NoteUses(t.Context(), lastuse.Uses{key: use(time.Second, "192.0.2.2")}))
		want := lastuse.Uses{key: use(time.Minute, "192.0.2.3"), {Org: org, ID: "oidc.ci"}: use(0, ""),
			{Org: stays, ID: "a"}: use(0, "2001:db8::1")}
		got, err := one.Uses(t.Context())
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	})
}

// TestUsesInPieces notes more than one transaction takes.
func TestUsesInPieces(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		uses := lastuse.Uses{}
		for range 450 {
			uses[lastuse.Credential{Org: uuid.New(), ID: "a"}] = lastuse.Use{At: time.Unix(7, 0).UTC(), From: "x"}
		}
		must(t, one.NoteUses(t.Context(), uses))
		if got, err := other.Uses(t.Context()); err != nil || !maps.Equal(got, uses) {
			t.Errorf("%d uses, %v", len(got), err)
		}
	})
}

// TestShredUses forgets an organization's uses and nothing of another one's, and all texts that the
// newest has replaced.
func TestShredUses(t *testing.T) {
	each(t, func(t *testing.T, one, other *sqlauth.Store) {
		org, stays := uuid.New(), uuid.New()
		for i, text := range []string{"# before\n", "[" + org.String() + "]\nname = Acme\n", "# between\n", "[shredded." +
			org.String() + "]\n"} {
			add(t, one, uint64(i), text, true)
		}
		for _, o := range []uuid.UUID{org, stays} {
			must(t, one.NoteUses(t.Context(), lastuse.Uses{{Org: o, ID: "a"}: {At: time.Unix(7, 0)}}))
		}
		for _, want := range []int{4, 0} { // one use, three texts
			if n, err := other.ShredUses(t.Context(), org); n != want || err != nil {
				t.Errorf("removed %d, %v; want %d", n, err, want)
			}
		}
		if kept, err := one.Kept(t.Context()); err != nil || kept != 1 {
			t.Errorf("%d revisions are kept, %v", kept, err)
		}
		if uses, err := one.Uses(t.Context()); err != nil || len(uses) != 1 {
			t.Errorf("%v, %v", uses, err)
		}
	})
}

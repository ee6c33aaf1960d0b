package sqlsessions_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/auth/session/sessiontest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlsessions"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func open(t *testing.T, o sqldb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

func alone(t *testing.T, o sqldb.Options) (one, other session.Store) {
	store := sqlsessions.New(open(t, o))
	return store, store
}

func inFile(t *testing.T) sqldb.Options {
	return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")}
}

func TestStore(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		sessiontest.RunStore(t, func(t *testing.T) (one, other session.Store) { return alone(t, sqldb.Options{}) })
	})
	t.Run("sqlite", func(t *testing.T) {
		sessiontest.RunStore(t, func(t *testing.T) (one, other session.Store) { return alone(t, inFile(t)) })
	})
	t.Run("mysql", func(t *testing.T) { // of two nodes
		sessiontest.RunStore(t, func(t *testing.T) (one, other session.Store) {
			d := mysqltest.New(t)
			o := sqldb.Options{MySQL: &mysqldb.Options{
				Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
				TLS: mysqldb.TLSOff, MaxOpenConns: 4, Log: slog.New(slog.DiscardHandler),
			}}
			return sqlsessions.New(open(t, o)), sqlsessions.New(open(t, o))
		})
	})
}

// What was acknowledged is there after a restart.
func TestSessionsOutliveTheProcess(t *testing.T) {
	o, ctx := inFile(t), t.Context()
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
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got, found, err := sqlsessions.New(open(t, o)).Session(ctx, one.Login.Org, one.Hash); err != nil || !found ||
		got != one {
		t.Errorf("%t, %v: %+v", found, err, got)
	}
}

// An organization that is shredded takes its sessions with it, and no others'.
func TestShred(t *testing.T) {
	db, ctx := open(t, inFile(t)), t.Context()
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

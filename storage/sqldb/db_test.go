package sqldb_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
)

func TestMain(m *testing.M) {
	killedAsChild()
	os.Exit(sqldbtest.Main(m))
}

// each runs a test on every database.
func each(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) { test(t, open(t, o)) })
}

// database returns one on a server: the engines of uploads, states and runs speak to one in short tests too.
func database(t *testing.T) mysqltest.Database {
	t.Helper()
	suite.Deep(t)
	return mysqltest.New(t)
}

func onServer(d mysqltest.Database) sqldb.Options {
	return sqldb.Options{MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler),
	}}
}

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

func insert(tx sqldb.Tx, org uuid.UUID, name string) (bool, error) {
	return sqldb.Insert(tx, `INSERT INTO workspaces (org, name, settings, revision, snapshot, created_at, updated_at, updated_by)
		VALUES (?, ?, '{}', 0, 0, 0, 0, '{}')`, org.String(), name)
}

func revision(t *testing.T, db *sqldb.DB, org uuid.UUID, name string) (n int64) {
	t.Helper()
	err := db.Read(t.Context(), org, func(q sqldb.Querier) error {
		n = -1
		_, err := sqldb.One(q, []any{&n}, "SELECT revision FROM workspaces WHERE org = ? AND name = ?", org.String(), name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What fn refuses is undone whole, and leaves alone what shares its transaction.
func TestWriteIsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		org, refused := uuid.New(), fault.New(fault.StateExists, "no")
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				err := db.Write(t.Context(), org, func(tx sqldb.Tx) error {
					if _, err := insert(tx, org, string(rune('a'+i))); err != nil {
						return err
					}
					if i%2 == 1 {
						return refused
					}
					return nil
				})
				if want := i%2 == 1; errors.Is(err, refused) != want || err != nil && !want {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
		for i := range 20 {
			if there := revision(t, db, org, string(rune('a'+i))) == 0; there == (i%2 == 1) {
				t.Errorf("%d is there: %v", i, there)
			}
		}
	})
}

// An organization's transactions run one after another: what one reads, nobody changes before
// it ends.
func TestWritesOfAnOrganizationFollowEachOther(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		org := uuid.New()
		mustWrite(t, db, org, func(tx sqldb.Tx) error { _, err := insert(tx, org, "a"); return err })
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 5 {
					mustWrite(t, db, org, func(tx sqldb.Tx) error {
						var n int64
						if _, err := sqldb.One(tx, []any{&n}, "SELECT revision FROM workspaces WHERE org = ? AND name = 'a'",
							org.String()); err != nil {
							return err
						}
						_, err := tx.Exec("UPDATE workspaces SET revision = ? WHERE org = ? AND name = 'a'", n+1, org.String())
						return err
					})
				}
			})
		}
		all.Wait()
		if n := revision(t, db, org, "a"); n != 40 {
			t.Errorf("%d of 40 writes counted", n)
		}
	})
}

func mustWrite(t *testing.T, db *sqldb.DB, org uuid.UUID, fn func(sqldb.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), org, fn); err != nil {
		t.Error(err)
	}
}

// A row that is there is no error to go on from, and the row that an update finds counts even
// if it stays as it is.
func TestRowsThatAreThere(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		org := uuid.New()
		mustWrite(t, db, org, func(tx sqldb.Tx) error {
			for i, want := range []bool{true, false} {
				if inserted, err := insert(tx, org, "a"); inserted != want || err != nil {
					t.Errorf("%d: inserted %v, %v", i, inserted, err)
				}
			}
			for name, want := range map[string]bool{"a": true, "b": false} {
				found, err := sqldb.Change(tx, "UPDATE workspaces SET revision = 0 WHERE org = ? AND name = ?", org.String(), name)
				if found != want || err != nil {
					t.Errorf("%s: found %v, %v", name, found, err)
				}
			}
			upsert := tx.Dialect().Upsert("organization_variables", []string{"org"}, []string{"revision"})
			for n := range 3 {
				if _, err := tx.Exec(upsert, org.String(), n); err != nil {
					return err
				}
			}
			var n int64
			if _, err := sqldb.One(tx, []any{&n}, "SELECT revision FROM organization_variables WHERE org = ?",
				org.String()); n != 2 || err != nil {
				t.Errorf("upserted %d, %v", n, err)
			}
			return nil
		})
		if n := revision(t, db, org, "a"); n != 0 {
			t.Errorf("revision %d", n)
		}
	})
}

// A read sees one moment, whatever is written meanwhile.
func TestReadSeesOneMoment(t *testing.T) {
	for name, o := range map[string]func(t *testing.T) sqldb.Options{
		"sqlite": func(t *testing.T) sqldb.Options { return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")} },
		"mysql":  func(t *testing.T) sqldb.Options { return onServer(database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			db, org := open(t, o(t)), uuid.New()
			err := db.Read(t.Context(), org, func(q sqldb.Querier) error {
				count := func() (n int64) {
					if _, err := sqldb.One(q, []any{&n}, "SELECT count(*) FROM workspaces"); err != nil {
						t.Error(err)
					}
					return n
				}
				before := count()
				mustWrite(t, db, org, func(tx sqldb.Tx) error { _, err := insert(tx, org, "a"); return err })
				if now := count(); now != before {
					t.Errorf("it saw %d, then %d", before, now)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What was written is there when the database is opened again, and the schema's steps are not
// taken twice.
func TestDurable(t *testing.T) {
	for name, options := range map[string]func(t *testing.T) sqldb.Options{
		"sqlite": func(t *testing.T) sqldb.Options { return sqldb.Options{Path: filepath.Join(t.TempDir(), "runs.db")} },
		"mysql":  func(t *testing.T) sqldb.Options { return onServer(database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			o, org := options(t), uuid.New()
			db, err := sqldb.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, db, org, func(tx sqldb.Tx) error { _, err := insert(tx, org, "a"); return err })
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			db = open(t, o)
			if n := revision(t, db, org, "a"); n != 0 {
				t.Error("it is gone")
			}
			if err := db.Ready(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A call whose context has ended does nothing.
func TestEndedContext(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := db.Write(ctx, uuid.New(), func(sqldb.Tx) error { t.Error("it ran"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestOpenAfterKilledMigration: who makes the table of steps and is killed before its first row leaves
// a database that opens.
func TestOpenAfterKilledMigration(t *testing.T) {
	d := database(t)
	if err := open(t, onServer(d)).Close(); err != nil {
		t.Fatal(err)
	}
	d.Exec(t, "DELETE FROM run_schema")
	db := open(t, onServer(d))
	mustWrite(t, db, uuid.New(), func(tx sqldb.Tx) error {
		_, err := sqldb.Count(tx, "UPDATE organizations SET bytes = bytes")
		return err
	})
}

// TestNothingIsReadFromADemotedServer: as after a failover that leaves it there.
func TestNothingIsReadFromADemotedServer(t *testing.T) {
	suite.Deep(t)
	server, d := mysqltest.Private(t)
	if err := server.Exec(t.Context(), "", "CREATE DATABASE IF NOT EXISTS holdfast_test",
		"CREATE USER app@'%' IDENTIFIED BY 'app'", "GRANT ALL ON holdfast_test.* TO app@'%'"); err != nil {
		t.Fatal(err)
	}
	d.User, d.Password = "app", "app"
	db := open(t, onServer(d))
	look := func(q sqldb.Querier) error {
		var n int
		_, err := sqldb.One(q, []any{&n}, "SELECT count(*) FROM organizations")
		return err
	}
	both := func() (read, asked error) {
		return db.Read(t.Context(), uuid.Nil, look), db.Ask(t.Context(), uuid.Nil, look)
	}
	if read, asked := both(); read != nil || asked != nil {
		t.Fatal(read, asked)
	}
	if err := server.Exec(t.Context(), "", "SET GLOBAL read_only = 1"); err != nil {
		t.Fatal(err)
	}
	if read, asked := both(); !fault.Is(read, fault.StoreUnavailable) || !fault.Is(asked, fault.StoreUnavailable) {
		t.Errorf("Read: %v; Ask: %v, want store_unavailable of both", read, asked)
	}
	if err := server.Exec(t.Context(), "", "SET GLOBAL read_only = 0"); err != nil {
		t.Fatal(err)
	}
	if read, asked := both(); read != nil || asked != nil {
		t.Error(read, asked)
	}
}

// TestSilentServer: a server that answers no more, though its connections stay, keeps nobody waiting for longer
// than was said, and the next one asks it over another connection.
func TestSilentServer(t *testing.T) {
	suite.Deep(t)
	d, proxy := mysqltest.Proxied(t)
	o := onServer(d)
	o.Patience = 300 * time.Millisecond
	db := open(t, o)
	ask := func(q sqldb.Querier) error {
		_, err := sqldb.One(q, []any{new(int)}, "SELECT 1")
		return err
	}
	for _, read := range []func(context.Context, uuid.UUID, func(sqldb.Querier) error) error{db.Ask, db.Read} {
		if err := read(t.Context(), uuid.Nil, ask); err != nil {
			t.Fatal(err)
		}
		proxy.Delay(20 * time.Second)
		if err := read(t.Context(), uuid.Nil, ask); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("of a silent server: %v", err)
		}
		proxy.Delay(0)
		if err := read(t.Context(), uuid.Nil, ask); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
}

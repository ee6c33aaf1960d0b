package dual

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	csvstore "github.com/holdfast/holdfast/storage/csv"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/serverdb/servertest"
	uploads "github.com/holdfast/holdfast/storage/sql"
)

// realSides tells the child of a crash test that its sides are CSV files and a database, and on which server.
const realSides = "HOLDFAST_DUAL_REAL_SIDES"

// server is a kind of server that the database's side is on.
type server struct {
	name    string
	fresh   func(testing.TB) uploads.Options
	named   func(t testing.TB, name string) uploads.Options
	proxied func(testing.TB) (uploads.Options, *servertest.Proxy)
	private func(testing.TB) (uploads.Options, killable)
}

type killable interface {
	Kill() error
	Run(context.Context) error
}

func servers() []server {
	return []server{{
		name:  "mysql",
		fresh: func(t testing.TB) uploads.Options { return inMySQL(mysqltest.New(t)) },
		named: func(t testing.TB, name string) uploads.Options { return inMySQL(mysqltest.Named(t, name)) },
		proxied: func(t testing.TB) (uploads.Options, *servertest.Proxy) {
			d, proxy := mysqltest.Proxied(t)
			return inMySQL(d), proxy.Proxy
		},
		private: func(t testing.TB) (uploads.Options, killable) {
			server, d := mysqltest.Private(t)
			return inMySQL(d), server
		},
	}, {
		name:  "postgres",
		fresh: func(t testing.TB) uploads.Options { return inPostgres(pgtest.New(t)) },
		named: func(t testing.TB, name string) uploads.Options { return inPostgres(pgtest.Named(t, name)) },
		proxied: func(t testing.TB) (uploads.Options, *servertest.Proxy) {
			url, proxy := pgtest.Proxied(t)
			return inPostgres(url), proxy
		},
		private: func(t testing.TB) (uploads.Options, killable) {
			server, url := pgtest.Private(t)
			return inPostgres(url), server
		},
	}}
}

// onServers runs a test with each kind of server. With -short that is MySQL's alone.
func onServers(t *testing.T, test func(t *testing.T, on server)) {
	for _, on := range servers() {
		t.Run(on.name, func(t *testing.T) {
			if on.name == "postgres" {
				suite.Deep(t)
			}
			test(t, on)
		})
	}
}

func inMySQL(d mysqltest.Database) uploads.Options {
	return uploads.Options{Now: time.Now, MySQL: &mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name, TLS: mysqldb.TLSOff, MaxOpenConns: 8,
		Log: slog.New(slog.DiscardHandler),
	}}
}

func inPostgres(url string) uploads.Options {
	return uploads.Options{Now: time.Now,
		Postgres: &pgdb.Options{URL: url, MaxOpenConns: 8, Log: slog.New(slog.DiscardHandler)}}
}

// childDatabase is the database that stands for a directory, in the child of a crash test.
func childDatabase(dir string) uploads.Options {
	if os.Getenv(realSides) == "postgres" {
		if err := pgtest.Make(context.Background(), nameFor(dir)); err != nil {
			panic(err)
		}
		return inPostgres(pgtest.At(os.Getenv(pgtest.Environment), nameFor(dir)))
	}
	return inMySQL(mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: nameFor(dir)})
}

// TestRealInventory runs the suite over CSV files and a database.
func TestRealInventory(t *testing.T) {
	onServers(t, func(t *testing.T, on server) {
		inventorytest.RunStore(t,
			func(t *testing.T) inventory.Store { return mustOpenReal(t, t.TempDir(), on.fresh(t)) })
	})
}

func TestRealDurable(t *testing.T) {
	suite.Deep(t)
	onServers(t, func(t *testing.T, on server) {
		t.Setenv(realSides, on.name)
		inventorytest.RunDurable(t, func(t *testing.T, dir string) inventory.Store {
			return mustOpenReal(t, dir, on.named(t, nameFor(dir)))
		})
	})
}

// nameFor returns the database that stands for a directory.
func nameFor(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("holdfast_test_dual_%x", sum[:8])
}

func openReal(ctx context.Context, dir string, o uploads.Options) (*Store, error) {
	files, err := csvstore.Open(ctx, csvstore.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	database, err := uploads.Open(ctx, o)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	engine := "mysql"
	if o.Postgres != nil {
		engine = "postgres"
	}
	return Open(ctx, Options{
		Dir: dir, CSV: files, Database: database, Engine: engine,
		After: func(time.Duration) <-chan time.Time { return time.After(10 * time.Millisecond) },
	})
}

func mustOpenReal(t *testing.T, dir string, o uploads.Options) *Store {
	t.Helper()
	s, err := openReal(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealOutages uploads through a proxy that breaks the database's connections, in the
// middle of requests and for a while, and compares the two engines in the end.
func TestRealOutages(t *testing.T) {
	onServers(t, func(t *testing.T, on server) {
		through, proxy := on.proxied(t)
		dir := t.TempDir()
		s := mustOpenReal(t, dir, through)
		orgs := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		stop := make(chan struct{})
		var trouble sync.WaitGroup
		trouble.Go(func() { makeTrouble(proxy, stop) })
		sent := uploadAll(t, s, orgs)
		close(stop)
		trouble.Wait()
		proxy.Break()
		uploadOwed(t, s, on, orgs, sent)
		proxy.Mend()
		wantPaid(t, s, on, dir, through, orgs, sent)
	})
}

// TestRealServerKilled kills the database's server under uploads, goes on without it, and starts both again.
func TestRealServerKilled(t *testing.T) {
	suite.Deep(t)
	onServers(t, func(t *testing.T, on server) {
		o, server := on.private(t)
		dir := t.TempDir()
		s := mustOpenReal(t, dir, o)
		orgs := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		var killed sync.WaitGroup
		killed.Go(func() {
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
		})
		sent := uploadAll(t, s, orgs)
		killed.Wait()
		uploadOwed(t, s, on, orgs, sent)
		if err := server.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantPaid(t, s, on, dir, o, orgs, sent)
	})
}

// uploadOwed uploads while the database is away.
func uploadOwed(t *testing.T, s *Store, on server, orgs []uuid.UUID, sent map[uuid.UUID]int) {
	t.Helper()
	for _, org := range orgs {
		batch := newBatch(org, "last", 3)
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatalf("Append while the database is away: %v", err)
		}
		sent[org] += 3
	}
	if owed := s.Backlog()[on.name]; owed == 0 {
		t.Errorf("the database is away, and nothing is owed to it: %v", s.Backlog())
	}
}

// wantPaid opens the store again: what is still owed has survived, and is paid as the database is back.
func wantPaid(t *testing.T, s *Store, on server, dir string, o uploads.Options, orgs []uuid.UUID,
	sent map[uuid.UUID]int) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpenReal(t, dir, o)
	if !soon(func() bool { return s.Backlog()[on.name] == 0 && s.Backlog()["csv"] == 0 }) {
		t.Fatalf("still owed: %v", s.Backlog())
	}
	wantEqualSides(t, s, orgs, sent)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// makeTrouble cuts connections at random, and now and then all of them for a while.
func makeTrouble(proxy *servertest.Proxy, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(1, 2))
	for {
		if random.IntN(5) == 0 {
			proxy.Break()
		} else if !proxy.Pending() {
			proxy.CutAfter(random.Int64N(20_000))
		}
		select {
		case <-stop:
			proxy.Mend()
			return
		case <-time.After(time.Duration(random.IntN(20)) * time.Millisecond):
			proxy.Mend()
		}
	}
}

// uploadAll has eight uploaders at work, and returns how many resources each organization
// has by their account. As CSV works all the time, no upload may fail.
func uploadAll(t *testing.T, s *Store, orgs []uuid.UUID) map[uuid.UUID]int {
	t.Helper()
	var uploaders sync.WaitGroup
	var mu sync.Mutex
	sent := map[uuid.UUID]int{}
	for worker := range 8 {
		uploaders.Go(func() {
			for i := range 40 {
				batch := newBatch(orgs[worker%len(orgs)], fmt.Sprint(worker, "-", i), 1+i%20)
				receipt, err := s.Append(t.Context(), batch)
				if err != nil {
					t.Errorf("Append: %v", fault.From(err))
				}
				if again, err := s.Append(t.Context(), batch); i%10 == 0 &&
					(err != nil || !again.Replayed || !again.At.Equal(receipt.At)) {
					t.Errorf("sent again: %+v, %v; first %+v", again, err, receipt)
				}
				mu.Lock()
				sent[batch.Org] += len(batch.Resources)
				mu.Unlock()
			}
		})
	}
	uploaders.Wait()
	return sent
}

// wantEqualSides compares the engines, record by record.
func wantEqualSides(t *testing.T, s *Store, orgs []uuid.UUID, sent map[uuid.UUID]int) {
	t.Helper()
	for _, org := range orgs {
		var got [2][]string
		for _, d := range s.sides {
			for record, err := range d.store.Records(t.Context(), org, inventory.Query{}) {
				if err != nil {
					t.Fatalf("%v: %v", d.label, err)
				}
				got[d.name] = append(got[d.name], line(record.Record))
			}
		}
		if len(got[csv]) != sent[org] || len(got[database]) != sent[org] {
			t.Errorf("%d records in CSV, %d in the database, %d were acknowledged", len(got[csv]), len(got[database]), sent[org])
		}
		for i := range min(len(got[csv]), len(got[database])) {
			if got[csv][i] != got[database][i] {
				t.Fatalf("record %d:\ncsv   %s\ndatabase %s", i, got[csv][i], got[database][i])
			}
		}
	}
}

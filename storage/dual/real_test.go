package dual

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
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
	uploads "github.com/holdfast/holdfast/storage/sql"
)

// realSides tells the child of a crash test that its sides are CSV files and a database.
const realSides = "HOLDFAST_DUAL_REAL_SIDES"

// TestRealInventory runs the suite over CSV files and a database.
func TestRealInventory(t *testing.T) {
	inventorytest.RunStore(t,
		func(t *testing.T) inventory.Store { return mustOpenReal(t, t.TempDir(), mysqltest.New(t)) })
}

func TestRealDurable(t *testing.T) {
	suite.Deep(t)
	t.Setenv(realSides, "yes")
	inventorytest.RunDurable(t, func(t *testing.T, dir string) inventory.Store {
		return mustOpenReal(t, dir, mysqltest.Named(t, nameFor(dir)))
	})
}

// nameFor returns the database that stands for a directory.
func nameFor(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("holdfast_test_dual_%x", sum[:8])
}

func openReal(ctx context.Context, dir string, d mysqltest.Database) (*Store, error) {
	files, err := csvstore.Open(ctx, csvstore.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	database, err := openDatabase(ctx, d)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return Open(ctx, Options{
		Dir: dir, CSV: files, MySQL: database,
		After: func(time.Duration) <-chan time.Time { return time.After(10 * time.Millisecond) },
	})
}

func openDatabase(ctx context.Context, d mysqltest.Database) (*uploads.Store, error) {
	return uploads.Open(ctx, uploads.Options{Now: time.Now, Options: mysqldb.Options{
		Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name, TLS: mysqldb.TLSOff, MaxOpenConns: 8,
		Log: slog.New(slog.DiscardHandler),
	}})
}

func mustOpenReal(t *testing.T, dir string, d mysqltest.Database) *Store {
	t.Helper()
	s, err := openReal(t.Context(), dir, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealOutages uploads through a proxy that breaks the database's connections, in the
// middle of requests and for a while, and compares the two engines in the end.
func TestRealOutages(t *testing.T) {
	d, dir := mysqltest.New(t), t.TempDir()
	proxy, err := mysqltest.NewProxy(d.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	through := d
	through.Address = proxy.Address
	s := mustOpenReal(t, dir, through)
	orgs := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	stop := make(chan struct{})
	var trouble sync.WaitGroup
	trouble.Go(func() { makeTrouble(proxy, stop) })
	sent := uploadAll(t, s, orgs)
	close(stop)
	trouble.Wait()
	// What is still owed survives a restart, and is paid once the database is back.
	proxy.Break()
	for _, org := range orgs {
		batch := newBatch(org, "last", 3)
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatalf("Append while the database is away: %v", err)
		}
		sent[org] += 3
	}
	if owed := s.Backlog()["mysql"]; owed == 0 {
		t.Error("the database is away, and nothing is owed to it")
	}
	proxy.Mend()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpenReal(t, dir, through)
	if !soon(func() bool { return s.Backlog()["mysql"] == 0 && s.Backlog()["csv"] == 0 }) {
		t.Fatalf("still owed: %v", s.Backlog())
	}
	wantEqualSides(t, s, orgs, sent)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// makeTrouble cuts connections at random, and now and then all of them for a while.
func makeTrouble(proxy *mysqltest.Proxy, stop <-chan struct{}) {
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
					t.Fatalf("%v: %v", d.name, err)
				}
				got[d.name] = append(got[d.name], line(record.Record))
			}
		}
		if len(got[csv]) != sent[org] || len(got[mysql]) != sent[org] {
			t.Errorf("%d records in CSV, %d in MySQL, %d were acknowledged", len(got[csv]), len(got[mysql]), sent[org])
		}
		for i := range min(len(got[csv]), len(got[mysql])) {
			if got[csv][i] != got[mysql][i] {
				t.Fatalf("record %d:\ncsv   %s\nmysql %s", i, got[csv][i], got[mysql][i])
			}
		}
	}
}

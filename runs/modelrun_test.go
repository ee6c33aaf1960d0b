package runs_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
)

// stepsOfASchedule are how many things happen in one world.
const stepsOfASchedule = 200

// modelStore is a store that has its database to itself.
type modelStore struct {
	*sqlruns.Store
	db *sqldb.DB
}

func (s modelStore) Close() error { return errors.Join(s.Store.Close(), s.db.Close()) }

func openModel(t testing.TB, path string) runs.Store {
	t.Helper()
	db, err := sqldb.Open(context.Background(), sqldb.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return modelStore{sqlruns.New(db), db}
}

// follow lets a world go on until a law is broken, or its time is up.
func (w *world) follow() error {
	for range stepsOfASchedule {
		if w.step(); w.laws.fail != nil {
			return w.laws.fail
		}
	}
	w.laws.lookAtAll()
	return w.laws.fail
}

// TestModel lets clients, executors and the server do what they like, in any order.
func TestModel(t *testing.T) {
	store := openModel(t, "")
	defer func() { _ = store.Close() }()
	rapid.Check(t, func(t *rapid.T) {
		choose := func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(t, what) }
		if err := newWorld(choose, runs.Rules(), store).follow(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestModelReopened does so with a server that dies now and then.
func TestModelReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store := openModel(t, path)
	defer func() { _ = store.Close() }()
	for seed := range uint64(5) {
		w := newWorld(chooser(seed), runs.Rules(), store)
		w.reopen = func(was runs.Store) runs.Store {
			if err := was.Close(); err != nil {
				t.Fatal(err)
			}
			store = openModel(t, path)
			return store
		}
		if err := w.follow(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

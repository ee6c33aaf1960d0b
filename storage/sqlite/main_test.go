package sqlite

import (
	"cmp"
	"context"
	"os"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

func TestMain(m *testing.M) {
	openAsChild()
	killable().ChildMain()
	pruneAsChild()
	sqlitetest.ChildMain(writersEngine())
	statetest.ChildMain(func(dir string) (state.Store, error) {
		s, err := Open(context.Background(), Options{Dir: dir, Master: sealtest.Master()})
		if err != nil {
			return nil, err
		}
		// Deltas of 10 KB already, and lists of few events: many make a kill likely at any point.
		s.bodies.DeltaFrom, s.session.listEvery = 1_000, 3
		return s, nil
	})
	os.Exit(m.Run())
}

func TestStore(t *testing.T) {
	statetest.RunStore(t, func(t *testing.T) state.Store { return open(t, t.TempDir()) })
}

// TestStoreInShortLooks has each list look at a few rows only, so that all go on over pages
// that are short or empty.
func TestStoreInShortLooks(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		s := open(t, t.TempDir())
		s.looks = 2
		return s
	})
}

func TestDurable(t *testing.T) {
	statetest.RunDurable(t, func(t *testing.T, dir string) state.Store { return open(t, dir) })
}

// masterIn is the master key of a folder's store: that of its file, if it has one.
func masterIn(dir string) *seal.Master { return cmp.Or(sealtest.MasterIn(dir), sealtest.Master()) }

// open opens a store that the test closes.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir, Master: masterIn(dir)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// opened opens a store for the length of the test, with a clock that the test can move.
func opened(t *testing.T) (*Store, *clock) {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Now: c.Now, Master: sealtest.Master()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// sealedChildren is set where children open sealed stores.
const sealedChildren = "HOLDFAST_TEST_SEALED"

// childsMaster is the master key of a child's store; nil as a rule.
func childsMaster(dir string) *seal.Master {
	if os.Getenv(sealedChildren) == "" {
		return nil
	}
	_ = folder.Make(dir)
	_ = seal.CreateMasterFile(filepath.Join(dir, "master.key"))
	return sealtest.MasterIn(dir)
}

// openSealed opens a store whose states are sealed.
func openSealed(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir, Master: sealtest.MakeMaster(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	if s.SealMode() != stateengine.Sealed {
		t.Fatalf("the mode of a new store is %d", s.SealMode())
	}
	return s
}

func TestSealedStore(t *testing.T) {
	statetest.RunStore(t, func(t *testing.T) state.Store { return openSealed(t, t.TempDir()) })
}

func TestSealedStoreOfDeltas(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		s := openSealed(t, t.TempDir())
		s.bodies.DeltaFrom, s.session.listEvery, s.looks = 1, 3, 2
		return s
	})
}

func TestSealedDurable(t *testing.T) {
	t.Setenv(sealedChildren, "1")
	statetest.RunDurable(t, func(t *testing.T, dir string) state.Store { return openSealed(t, dir) })
}

func TestKeys(t *testing.T) {
	s, _ := opened(t)
	sealtest.RunKeys(t, func(*testing.T) seal.Keys { return s.keys })
}

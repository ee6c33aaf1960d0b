package mysqlstates

import (
	"testing"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.RunStore(t, func(t *testing.T) state.Store { return opened(t, optionsFor(mysqltest.New(t))) })
}

// TestStoreOfDeltas stores small bodies as deltas too, and has each list look at a few rows only.
func TestStoreOfDeltas(t *testing.T) {
	storagetest.RunStore(t, func(t *testing.T) state.Store {
		s := opened(t, optionsFor(mysqltest.New(t)))
		s.bodies.DeltaFrom, s.looks = 1, 2
		return s
	})
}

func TestDurable(t *testing.T) {
	storagetest.RunDurable(t, func(t *testing.T, dir string) state.Store {
		return opened(t, optionsFor(mysqltest.Named(t, nameFor(dir))))
	})
}

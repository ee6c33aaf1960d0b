package mysqlstates

import (
	"testing"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
)

func TestStore(t *testing.T) {
	statetest.RunStore(t, func(t *testing.T) state.Store {
		d := mysqltest.New(t)
		t.Cleanup(func() { // whatever was done, what is counted and listed follows from it
			if off := derived(t, d); !off.isSound() {
				t.Errorf("what follows from the rest does not: %+v", off)
			}
		})
		return opened(t, optionsFor(d))
	})
}

// TestStoreOfDeltas stores small bodies as deltas too, and has each list look at a few rows only.
func TestStoreOfDeltas(t *testing.T) {
	statetest.RunStore(t, func(t *testing.T) state.Store {
		s := opened(t, optionsFor(mysqltest.New(t)))
		s.bodies.DeltaFrom, s.looks = 1, 2
		return s
	})
}

func TestDurable(t *testing.T) {
	statetest.RunDurable(t, func(t *testing.T, dir string) state.Store {
		return opened(t, optionsFor(mysqltest.Named(t, nameFor(dir))))
	})
}

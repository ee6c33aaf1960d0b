package states

import (
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
)

func TestStore(t *testing.T) { onEach(t, testStore) }

func testStore(t *testing.T, on kind) {
	statetest.RunStore(t, func(t *testing.T) state.Store {
		d := on.new(t)
		wantSound(t, d)
		return opened(t, d.options())
	})
}

// wantSound wants what is counted and listed to follow from the rest at the end of the test, whatever was done.
func wantSound(t *testing.T, d database) {
	t.Helper()
	t.Cleanup(func() {
		if off := derived(t, d); !off.isSound() {
			t.Errorf("what follows from the rest does not: %+v", off)
		}
	})
}

// TestStoreOfDeltas stores small bodies as deltas too, and has each list look at a few rows only.
func TestStoreOfDeltas(t *testing.T) { onEach(t, testStoreOfDeltas) }

func testStoreOfDeltas(t *testing.T, on kind) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		s := opened(t, on.new(t).options())
		s.bodies.DeltaFrom, s.looks = 1, 2
		return s
	})
}

func TestDurable(t *testing.T) {
	onEach(t, func(t *testing.T, on kind) {
		t.Setenv(onKilled, string(on))
		statetest.RunDurable(t, func(t *testing.T, dir string) state.Store {
			d := on.named(t, nameFor(dir))
			leftAlone(t, d)
			return opened(t, d.options())
		})
	})
}

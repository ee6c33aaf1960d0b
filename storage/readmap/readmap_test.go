package readmap_test

import (
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/readmap"
)

// TestStore runs the suite with a map that holds nothing, one that always evicts, and one
// with room for all; over a store of its own, and over one that others might write to.
func TestStore(t *testing.T) {
	for _, maxBytes := range []int64{0, 8 << 10, 256 << 20} {
		t.Run(fmt.Sprint(maxBytes), func(t *testing.T) {
			suite.Deep(t)
			statetest.RunStore(t, func(*testing.T) state.Store { return readmap.New(memory.New(1<<30), maxBytes) })
		})
		t.Run(fmt.Sprint("shared ", maxBytes), func(t *testing.T) {
			if maxBytes != 256<<20 {
				suite.Deep(t)
			}
			statetest.RunStore(t, func(*testing.T) state.Store { return readmap.NewShared(memory.New(1<<30), maxBytes) })
		})
	}
}

// TestTwoMaps runs it through two maps over one store, each call through another one.
func TestTwoMaps(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(*testing.T) state.Store {
		below := memory.New(1 << 30)
		return statetest.Alternately(readmap.NewShared(below, 256<<20), readmap.NewShared(below, 256<<20))
	})
}

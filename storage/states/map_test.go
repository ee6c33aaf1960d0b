package states

import (
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/readmap"
)

// TestNodesWithMaps runs the suite on two nodes, each of which serves reads from memory: every call
// goes to the other one than the call before.
func TestNodesWithMaps(t *testing.T) { onEach(t, testNodesWithMaps) }

func testNodesWithMaps(t *testing.T, on kind) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		d := on.new(t)
		node := func() state.Store { return readmap.NewShared(opened(t, d.options()), 64<<20) }
		return statetest.Alternately(node(), node())
	})
}

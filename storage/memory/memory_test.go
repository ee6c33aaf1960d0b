package memory_test

import (
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/memory"
)

func TestStore(t *testing.T) {
	statetest.RunStore(t, func(*testing.T) state.Store { return memory.New(1 << 30) })
}

// TestStoreInShortLooks has all lists of events go on over pages that are short or empty.
func TestStoreInShortLooks(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(*testing.T) state.Store { return memory.NewInShortLooks() })
}

package sqlite

import (
	"testing"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func TestKeys(t *testing.T) {
	s, _ := opened(t)
	sealtest.RunKeys(t, func(*testing.T) seal.Keys { return s.keys })
}

package statetest_test

import (
	"os"
	"testing"

	"github.com/holdfast/holdfast/state/statetest"
)

// TestMain serves the crash tests: a process that they start and kill ends in this call.
func TestMain(m *testing.M) {
	statetest.ChildMain(openBroken)
	os.Exit(m.Run())
}

package machine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent/machine"
)

// Scenario: a program that has no shims, such as these tests, is to start commands. It would start
// itself, from its beginning. Check: nothing is started, and nothing made.
func TestProgramWithoutShimsStartsNothing(t *testing.T) {
	work := t.TempDir()
	_, err := machine.NewCommands(t.Context(), machine.CommandSettings{Work: work, Open: true})
	if err == nil || !strings.Contains(err.Error(), "no command that is a shim") {
		t.Error(err)
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

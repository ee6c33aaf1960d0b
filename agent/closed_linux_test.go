package agent_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/sandbox"
)

// Where the network has to be closed to commands and can't be, what that is for is said, and nothing is started.
func TestNetworkThatHasToBeClosed(t *testing.T) {
	for name, c := range map[string]struct {
		open, require, refused bool
	}{
		"it is not wanted":     {true, false, false},
		"it is, and can't be":  {true, true, true},
		"it is wanted, or not": {false, false, false},
	} {
		work := t.TempDir()
		commands, err := machine.NewCommands(t.Context(), machine.CommandSettings{Work: work, Shims: true, Open: c.open,
			Network: sandbox.Network{RequireClosed: c.require}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.open && commands.Sandbox().Network != "open" {
			t.Errorf("%s: %+v", name, commands.Sandbox())
		}
		process, err := commands.Start(t.Context(), agent.Command{Folder: filepath.Join(work, "p"), Path: "/bin/true",
			Dir: "/", Read: []string{"/bin/true"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		exit, err := process.Wait(t.Context())
		if err != nil || exit.TooWeak != c.refused || c.refused && !strings.Contains(exit.Failed, "have to be closed") {
			t.Errorf("%s: %+v, %v", name, exit, err)
		}
	}
}

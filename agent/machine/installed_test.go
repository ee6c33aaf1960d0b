package machine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/shim"
	"github.com/holdfast/holdfast/api"
)

// TestMain is also the shims that tests start.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == shim.Command:
		err = shim.Main()
	case len(os.Args) > 1 && os.Args[1] == shim.SandboxedCommand:
		err = sandbox.Enter()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Where bubblewrap is installed under a server that runs, the server says from then on what the sandbox reaches with
// it, and asks the machine once for that.
func TestBubblewrapIsFoundUnderARunningServer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no commands")
	}
	c, err := NewCommands(t.Context(), CommandSettings{Work: t.TempDir(), Shims: true})
	if err != nil {
		t.Fatal(err)
	}
	reached := c.Sandbox()
	before := api.Sandbox{Level: "none", Network: "open", Why: []string{"bubblewrap is not installed"}}
	if slices.Equal(reached.Why, before.Why) {
		t.Fatalf("the machine says %+v", reached)
	}
	c.reached = before
	if found := c.Sandbox(); !slices.Equal(found.Why, before.Why) {
		t.Errorf("it was found out anew though nothing was installed: %+v", found)
	}
	c.installed = "what there was before"
	if found := c.Sandbox(); found.Level != reached.Level || found.Network != reached.Network ||
		slices.Equal(found.Why, before.Why) {
		t.Errorf("it reaches %+v, want %+v", found, reached)
	}
	c.reached = before
	if found := c.Sandbox(); !slices.Equal(found.Why, before.Why) {
		t.Errorf("it was found out again: %+v", found)
	}
}

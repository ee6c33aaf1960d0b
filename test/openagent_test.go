//go:build e2e

package test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/shim"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// actAsShim does what an executor of this process starts it anew for.
func actAsShim() {
	if len(os.Args) < 2 {
		return
	}
	var err error
	switch os.Args[1] {
	case shim.Command:
		err = shim.Main()
	case shim.SandboxedCommand:
		err = sandbox.Enter()
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// openAgent executes runs of the pool in this process and without a sandbox, so that what they make stays where they
// make it: in any other run's folder nothing is left for somebody to change by hand.
func (b *runBench) openAgent() {
	b.Helper()
	work, root := filepath.Join(b.dir, "open"), filepath.Join(b.dir, "tools")
	store := tools.New(tools.Settings{Root: root})
	_, err := store.Add(b.Context(), tools.OpenTofu, "1.12.6", program(b.T, "TOFU_BIN"))
	b.must(err)
	said, err := exec.Command("cp", "-rl", os.Getenv("PROVIDERS_MIRROR"), store.ProviderMirror()).CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	commands, err := machine.NewCommands(b.Context(), machine.CommandSettings{Work: work, Shims: true, Open: true})
	b.must(err)
	token, err := os.ReadFile(b.tokenFile())
	b.must(err)
	executor, err := agent.New(agent.Settings{
		Server:       remote.New(client.New(client.Options{Address: b.server.url})),
		Presentation: api.AgentRegistration{Name: "open"}, PoolToken: strings.TrimSpace(string(token)), Work: work, Slots: 2,
		Address: b.server.url, Tools: machine.Tools{Store: store, Cache: filepath.Join(work, "providers")},
		Commands: commands, Log: slog.New(slog.NewTextHandler(b.Output(), nil)),
	})
	b.must(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- executor.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		<-ended
	})
}

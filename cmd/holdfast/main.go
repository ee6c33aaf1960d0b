// Holdfast keeps the Terraform and OpenTofu states of many organizations.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/holdfast/holdfast/agent/shim"
	"github.com/holdfast/holdfast/internal/nocore"
)

func main() {
	guardMemory(os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], newApp()))
}

// guardMemory keeps what a command has in its memory out of core dumps, before it reads any of that, and from other
// processes of its user, too, unless it could not do its work so.
func guardMemory(args []string) {
	_ = nocore.Set() // a server says where it fails
	if len(args) == 0 {
		return
	}
	switch args[0] {
	case "serve", "agent", shim.SandboxedCommand: // they make sandboxes
	case "engine": // as a tool of a run: the run's shim finds what is its own by the environment
	default:
		_ = nocore.Hide()
	}
}

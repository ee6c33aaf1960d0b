package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/shim"
)

// newRunShimCommand returns what an executor starts for each command of a run. People don't
// call it: its order comes through a pipe.
func newRunShimCommand() *cobra.Command {
	return &cobra.Command{
		Use:    shim.Command,
		Short:  "Stay with a command of a run until it ends",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return shim.Main() },
	}
}

// newRunSandboxedCommand returns what a shim starts: it becomes the command.
func newRunSandboxedCommand() *cobra.Command {
	return &cobra.Command{
		Use:    shim.SandboxedCommand,
		Short:  "Become a command of a run inside the sandbox",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return sandbox.Enter() },
	}
}

//go:build !linux

package shim

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// The names of our own commands that are a shim, and that become the tool.
const (
	Command          = "run-shim"
	SandboxedCommand = "run-sandboxed"
)

var errUnsupported = errors.New("runs can be executed on Linux only")

// Process is the command of a folder; on this system there are none.
type Process struct {
	folder folder
}

// Main fails: there are no shims on this system.
func Main() error { return errUnsupported }

// Start fails: there are no shims on this system.
func Start(context.Context, Spec) (*Process, error) { return nil, errUnsupported }

// Find fails: there are no shims on this system.
func Find(string) (*Process, error) { return nil, errUnsupported }

// Dir is the folder.
func (p *Process) Dir() string { return string(p.folder) }

// Identity fails, as all of it does.
func (p *Process) Identity() (Identity, error) { return Identity{}, errUnsupported }

// Sandbox fails.
func (p *Process) Sandbox() (*sandbox.Report, error) { return nil, errUnsupported }

// Status fails.
func (p *Process) Status() (Status, error) { return Status{}, errUnsupported }

// Wait fails.
func (p *Process) Wait(context.Context) (Status, error) { return Status{}, errUnsupported }

// Adopt fails.
func (p *Process) Adopt(context.Context) error { return errUnsupported }

// Interrupt fails.
func (p *Process) Interrupt(context.Context) error { return errUnsupported }

// Kill fails.
func (p *Process) Kill(context.Context) error { return errUnsupported }

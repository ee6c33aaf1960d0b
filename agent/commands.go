package agent

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/api"
)

// Command is what a phase executes.
type Command struct {
	Folder string // absolute, of this command alone: where its output and its end are kept
	Path   string // of the program, absolute
	Args   []string
	Dir    string
	Env    []string // NAME=VALUE; secrets among them
	// Apart says that the standard output is wanted by itself: Process.Stdout has it then, and
	// Process.Output only what went to standard error.
	Apart bool
	// Read and Write are the folders that the command may read and change, beside those of the
	// system.
	Read, Write []string
	// Least is the level of the sandbox below which it is not to be started; empty for any.
	Least string
	// Patience is the time between the interrupt of a command that uses more than it may and its being killed; 0 for a
	// few seconds.
	Patience time.Duration
}

// Commands starts commands that live on when their executor ends, and finds them again.
type Commands interface {
	// Start starts a command. From when it may have begun, Find finds it.
	Start(ctx context.Context, c Command) (Process, error)
	// Find returns the command of a folder, whether it goes on or has ended; fs.ErrNotExist says
	// that none was ever begun there.
	Find(ctx context.Context, folder string) (Process, error)
	// Sandbox is what is closed to commands.
	Sandbox() api.Sandbox
}

// ErrNeverBegun is of a command that was not started, because what starts it could not do its
// work: as where the disk is full.
var ErrNeverBegun = errors.New("the command was never begun")

// Process is a command that was begun.
type Process interface {
	// Output is the file that has what it prints, as it prints it.
	Output() string
	// Stdout is the file with its standard output, where that is apart.
	Stdout() string
	// Wait returns how it ended, or the context's error. It may be called again. ErrNeverBegun says
	// that it was not started after all: Find finds nothing then, and another Start may go well.
	Wait(ctx context.Context) (Exit, error)
	// Interrupt sends SIGINT to the command, and to none of its children. However often it is
	// called, one is sent: a second one would have the tool give up at once.
	Interrupt() error
	// Kill has the command give up, and ends it with its children soon after.
	Kill() error
	// Evidence tells it from every other process.
	Evidence() Evidence
	// Sandbox is what is closed to it.
	Sandbox() *api.Sandbox
}

// Evidence is what shows, later, whether a process still goes on.
type Evidence struct {
	BootID    string
	PID       int
	StartTime uint64
}

// Exit is how a command ended.
type Exit struct {
	Code   int
	Signal string // that ended it; empty for none
	// Lost says that it has ended, and nobody saw how: its machine was started anew.
	Lost bool
	// Failed says why it could not be started, or why its end is not known.
	Failed      string
	OutOfMemory bool
	// TooWeak says that it was not started, because the sandbox reached less than it is to.
	TooWeak bool
	// Exceeded says, for people, what it used more of than it may, for which it was ended; empty for nothing.
	Exceeded string
	Took     time.Duration
}

// Binary is the program of a tool.
type Binary struct {
	api.Tool        // exactly which
	Path     string // absolute
	// Args come before those that a tool has for what it is to do.
	Args []string
	Read []string
	// Env is what the program needs in its environment: NAME to VALUE.
	Env map[string]string
}

// Tools finds programs.
type Tools interface {
	// Find returns the program that an assignment asks for. The configuration, whose root module
	// is in a directory of it, may say more of the version.
	Find(ctx context.Context, want api.Tool, configuration, directory string) (Binary, error)
	// Configuration returns the tool's own configuration, which says where providers come from,
	// for an organization's run. No two runs are in one slot at once. One that doesn't share has no
	// Cache: its init may execute code of its configuration.
	Configuration(ctx context.Context, tool Binary, org string, slot int, shares bool) (ToolConfiguration, error)
}

// ToolConfiguration is a tool's own configuration, and the folders that it names.
type ToolConfiguration struct {
	Text string
	Read []string
	// Cache is where init may put what other runs of the organization find there. Every other command
	// may only read it: those execute code of the configuration and of its providers, which would be
	// executed by others then.
	Cache []string
}

package shim

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// Spec is one command and how to run it. It has secrets, in Env: it goes to the shim through a
// pipe and is written nowhere.
type Spec struct {
	// Dir is the shim's own folder. Start makes it; there is one for each command.
	Dir     string         `json:"dir"`
	Command string         `json:"command"` // absolute
	Args    []string       `json:"args,omitempty"`
	WorkDir string         `json:"work_dir"`
	Env     []string       `json:"env,omitempty"` // all of it: nothing is inherited
	Sandbox sandbox.Policy `json:"sandbox"`
	Limits  sandbox.Limits `json:"limits"`
	// Apart keeps stdout in a file of its own, for what is parsed; else stdout and stderr are
	// in one log, in the order in which they were written.
	Apart bool `json:"apart,omitempty"`
	// MaxSpool bounds the bytes of each stream; more leaves out the middle. 0 is 1 GiB.
	MaxSpool int64 `json:"max_spool,omitempty"`
	// Grace is the time between the last SIGINT and SIGKILL when the command is killed. 0 is
	// 5 s, as the tools themselves have it.
	Grace time.Duration `json:"grace,omitempty"`
	// Patience is the time between the SIGINT to a command that has used more than its limits allow and its being
	// killed. 0 is Grace.
	Patience time.Duration `json:"patience,omitempty"`
	// Room is how long the end of a command waits for room on a full disk, for what it has
	// printed last. 0 is a minute.
	Room time.Duration `json:"room,omitempty"`
}

// Stream is one of the command's outputs.
type Stream string

// The streams. Stdout is there only when it was asked to be apart.
const (
	Log    Stream = "log"
	Stdout Stream = "stdout"
)

const (
	defaultMaxSpool = 1 << 30
	defaultGrace    = 5 * time.Second
	defaultRoom     = time.Minute
)

func (s Spec) streams() []Stream {
	if s.Apart {
		return []Stream{Log, Stdout}
	}
	return []Stream{Log}
}

func (s Spec) validate() error {
	for name, path := range map[string]string{"folder of the shim": s.Dir, "command": s.Command,
		"folder of the command": s.WorkDir} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("the %s, %q, has no absolute path", name, path)
		}
	}
	if s.MaxSpool < 0 || s.Grace < 0 || s.Patience < 0 || s.Room < 0 {
		return errors.New("neither a command's output nor its times can be negative")
	}
	return s.Sandbox.Validate()
}

func (s Spec) withDefaults() Spec {
	if s.MaxSpool == 0 {
		s.MaxSpool = defaultMaxSpool
	}
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	if s.Patience == 0 {
		s.Patience = s.Grace
	}
	s.Limits = s.Limits.WithDefaults()
	if s.Room == 0 {
		s.Room = defaultRoom
	}
	return s
}

// PID is a process. The number alone may be another process's later; with the time when it
// started it is not.
type PID struct {
	Number    int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // in the kernel's ticks since the machine's start
}

// Identity is the evidence by which a command is known to live, or to be gone.
type Identity struct {
	BootID  string `json:"boot_id"` // of the machine: another one proves that all of this is gone
	PIDs    string `json:"pids"`    // the namespace that the numbers are of
	Shim    PID    `json:"shim"`
	Command PID    `json:"command"` // zero before there is one
}

// Exit is how a command ended.
type Exit struct {
	// Code is -1 where a signal ended it, where it could not be started, and where nobody
	// could know.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // such as "killed"
	// Failed says why the command could not be started, or why its code is not known.
	Failed  string    `json:"failed,omitempty"`
	TooWeak bool      `json:"too_weak,omitempty"` // the sandbox did not reach the least level
	Unknown bool      `json:"unknown,omitempty"`  // its shim was killed, so nobody learned its code
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// OutOfMemory says that the kernel killed processes for want of memory meanwhile, and
	// that this one was killed, and not by us.
	OutOfMemory bool `json:"oom,omitempty"`
	// Sizes are the bytes in each stream's file, Lost those that are not in it.
	Sizes map[Stream]int64 `json:"sizes"`
	Lost  map[Stream]int64 `json:"lost,omitempty"`
	// Interrupted and Killed say what was done to it.
	Interrupted bool `json:"interrupted,omitempty"`
	Killed      bool `json:"killed,omitempty"`
	// Exceeded says what it used more of than its limits allow, for which it was ended; empty for nothing.
	Exceeded string `json:"exceeded,omitempty"`
	// Left is how many processes the command left behind, which were killed then.
	Left    int            `json:"left,omitempty"`
	Sandbox sandbox.Report `json:"sandbox"`
}

// Condition is what a folder says of its command.
type Condition string

// The conditions.
const (
	// Running: its shim lives.
	Running Condition = "running"
	// Orphaned: the command, or something that it started, runs without its shim.
	Orphaned Condition = "orphaned"
	// Ended: how is known.
	Ended Condition = "ended"
	// Vanished: it ran, and is gone without a word of how it ended.
	Vanished Condition = "vanished"
	// NeverBegan: its shim is gone, and never let the command go.
	NeverBegan Condition = "never_began"
)

// Status is the condition of a command and what proves it.
type Status struct {
	Condition Condition
	Proof     string // in words, for a run's record
	Exit      *Exit  // of one that has ended
}

// begun is what command.json holds: what a shim needs that adopts the command.
type begun struct {
	Identity
	// Session is the first shim's: the command's processes are in it, unless they left it.
	Session  int           `json:"session"`
	Mark     string        `json:"mark"` // in the environment of the command's processes
	Started  time.Time     `json:"started"`
	Streams  []Stream      `json:"streams"`
	MaxSpool int64         `json:"max_spool"`
	Grace    time.Duration `json:"grace"`
	Patience time.Duration `json:"patience"`
	Room     time.Duration `json:"room"`
	// Limits are the command's. Exceeded and ExceededAt say that it goes beyond one, and since when.
	Limits     sandbox.Limits `json:"limits"`
	Exceeded   string         `json:"exceeded,omitempty"`
	ExceededAt time.Time      `json:"exceeded_at,omitzero"`
	Cgroup     string         `json:"cgroup,omitempty"`
	// Sandbox is what was reached, once the command has begun.
	Sandbox *sandbox.Report `json:"sandbox,omitempty"`
}

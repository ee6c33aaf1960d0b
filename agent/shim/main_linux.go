package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/holdfast/holdfast/internal/nocore"
)

// The files that a shim is started with, beside its order on stdin.
const (
	lockFD  = 3 // the folder's lock, held already; it is released by the shim's end
	readyFD = 4 // closed when there is something to find, or nothing will be
)

// order is what a shim is told by whoever starts it.
type order struct {
	Spec  Spec `json:"spec"`
	Adopt bool `json:"adopt,omitempty"` // the folder's command, which runs without a shim
}

// Main is the shim's process: it reads its order from stdin, and returns when the command has
// ended and how is on disk.
func Main() error {
	unix.CloseOnExec(lockFD)
	unix.CloseOnExec(readyFD)
	defer func() { _ = unix.Close(readyFD) }() // at the latest; a second close does no harm here
	nudged := detach()
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return errors.New("there is no whole order: whoever started this shim is gone")
	}
	if o.Adopt {
		return adopt(folder(o.Spec.Dir), nudged)
	}
	return begin(o.Spec.withDefaults(), nudged)
}

// detach makes this process one that nothing ends but itself and SIGKILL, that inherits the
// orphans of its command, and whose memory nobody reads. It returns where the nudges come.
func detach() <-chan os.Signal {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	nudged := make(chan os.Signal, 1)
	signal.Notify(nudged, nudge)
	unix.Umask(0o077)
	// What fails here is less safe, and no reason not to run.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_, _ = nocore.Set(), nocore.Hide()
	return nudged
}

// nudge tells a shim to look at what was asked of it.
const nudge = syscall.SIGUSR1

// begin starts the command of the spec and stays until it has ended.
func begin(spec Spec, nudged <-chan os.Signal) error {
	k := &keeper{folder: folder(spec.Dir), nudged: nudged, oomKills: outOfMemoryKills()}
	identity, err := ourselves()
	if err != nil {
		return err
	}
	k.begun = begun{Identity: identity, Mark: spec.Dir, Streams: spec.streams(), MaxSpool: spec.MaxSpool,
		Grace: spec.Grace, Patience: spec.Patience, Room: spec.Room, Limits: spec.Limits}
	if err := k.prepare(); err != nil {
		return err
	}
	err = k.start(spec)
	spec = Spec{} // its environment is the command's alone
	if err != nil {
		return k.fail(err)
	}
	k.begun.Sandbox = &k.exit.Sandbox
	_ = k.folder.write(commandFile, k.begun) // the exit says it again; the command runs already
	_ = unix.Close(readyFD)
	return k.keep()
}

// fail records that the command could not be started.
func (k *keeper) fail(err error) error {
	k.exit.Code, k.exit.Failed = -1, err.Error()
	if child := k.process.Child; child != nil {
		_ = child.Kill()
		_, _ = child.Wait()
	}
	return k.finish()
}

// prepare makes the files of the folder. When it is done the shim can be found.
func (k *keeper) prepare() error {
	for _, stream := range k.begun.Streams {
		if err := unix.Mkfifo(k.folder.path(string(stream)+pipeSuffix), 0o600); err != nil {
			return fmt.Errorf("can't make a pipe: %w", err)
		}
	}
	for _, r := range []request{interruptRequest, killRequest} {
		if err := k.folder.makeRequest(r); err != nil {
			return err
		}
	}
	if err := k.folder.reserveExit(); err != nil {
		return err
	}
	if err := k.open(); err != nil {
		return err
	}
	return k.folder.write(shimFile, k.begun.Identity)
}

package shim

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// adopt stays with a command that runs without a shim, until it has ended. Its exit code only
// its parent could have learned.
func adopt(f folder, nudged <-chan os.Signal) error {
	k := &keeper{folder: f, nudged: nudged}
	if err := f.read(commandFile, &k.begun); err != nil {
		return err
	}
	k.exit = Exit{
		Code: -1, Unknown: true, Started: k.begun.Started,
		Failed: "its shim was killed, so nobody was told its exit code",
	}
	if k.begun.Sandbox != nil {
		k.exit.Sandbox = *k.begun.Sandbox
	}
	identity, err := ourselves()
	if err != nil {
		return err
	}
	identity.Command = k.begun.Command
	leader, err := k.begun.Command.open()
	if err != nil && !errors.Is(err, errGone) {
		return err
	}
	if err := k.open(); err != nil {
		return err
	}
	if err := f.write(shimFile, identity); err != nil {
		return err
	}
	_ = syscall.Close(readyFD)
	k.copy()
	ended := make(chan syscall.WaitStatus, 1)
	go func() {
		if leader.file != nil {
			_ = leader.wait(context.Background()) // it can only end
		}
		ended <- 0
	}()
	k.attend(ended)
	k.exit.Left = k.killRest(k.noneLeft())
	return k.finish()
}

// noneLeft is closed when the family of a command that was adopted is gone.
func (k *keeper) noneLeft() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for len(k.family()) > 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return gone
}

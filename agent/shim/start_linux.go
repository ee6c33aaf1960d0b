package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is the name of our own command that is a shim; see Main.
const Command = "run-shim"

// Start starts the command in a new folder, and returns when it runs or can't: then it has
// ended, and its exit says why. Once Start has returned, nothing that happens to this process
// touches the command. It fails with fs.ErrExist when the folder is there already: then Find
// says what became of an earlier start.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	lock, err := makeLocked(spec.Dir)
	if err != nil {
		return nil, err
	}
	if err := launch(ctx, lock, order{Spec: spec}); err != nil {
		return nil, err
	}
	return Find(spec.Dir)
}

// makeLocked makes the folder with its lock held, in one step: nobody finds it without.
func makeLocked(dir string) (lock *os.File, err error) {
	temporary, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*") // mode 0700
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temporary))
		}
	}()
	lock, err = os.OpenFile(folder(temporary).path(lockFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("can't lock a shim's folder: %w", err), lock.Close())
	}
	err = unix.Renameat2(unix.AT_FDCWD, temporary, unix.AT_FDCWD, dir, unix.RENAME_NOREPLACE)
	if err != nil {
		return nil, errors.Join(&os.LinkError{Op: "rename", Old: temporary, New: dir, Err: err}, lock.Close())
	}
	return lock, nil
}

// launch starts a shim that goes on to hold the lock, which is held, and returns when it can be found. What ctx ends is
// the waiting: the shim has its order by then, and follows it.
func launch(ctx context.Context, lock *os.File, o order) error {
	defer lock.Close()
	ready, closed, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	text, err := json.Marshal(o)
	if err != nil {
		return errors.Join(err, closed.Close())
	}
	cmd := exec.Command(ownBinary, Command)
	cmd.Args[0] = "holdfast"
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{lock, closed}
	orders, err := cmd.StdinPipe()
	if err != nil {
		return errors.Join(err, closed.Close())
	}
	err = cmd.Start()
	_ = closed.Close()
	if err != nil {
		return fmt.Errorf("can't start a shim: %w", err)
	}
	go func() { _ = cmd.Wait() }() // how it ended is in its folder
	_, err = orders.Write(text)
	if err = errors.Join(err, orders.Close()); err != nil {
		return fmt.Errorf("can't tell the shim what to do: %w", err)
	}
	return await(ctx, ready)
}

// await returns when the shim has closed its end.
func await(ctx context.Context, ready *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(aLongTimeAgo()) })
	defer stop()
	_, _ = ready.Read(make([]byte, 1))
	return ctx.Err()
}

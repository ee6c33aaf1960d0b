package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockInterval is how often it is looked whether a lock is free.
const lockInterval = 20 * time.Millisecond

// Locked runs work while this process alone, of all that call it, may change the file at path: it holds the lock of
// a file beside it, and waits for that until ctx ends. The lock file stays behind: to remove it would let two
// processes lock two different files. It belongs to whom the file does, so that an edit by root does not shut out the
// account that the server runs as.
func Locked(ctx context.Context, path string, work func() error) (err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockInterval); err != nil || !ok {
		if ctx.Err() != nil {
			return fmt.Errorf("another command is editing %s (it holds %s): %w", path, lock.Path(), ctx.Err())
		}
		return fmt.Errorf("can't lock %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if info, err := os.Stat(path); err == nil {
		giveAway(lock.Path(), info)
	}
	return work()
}

// giveAway has the lock file belong to whom the file does, where this account may do that.
func giveAway(lock string, of os.FileInfo) {
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	_ = keepOwner(f, of) // who can't is not root, and so has made it as somebody else could
	_ = f.Close()
}

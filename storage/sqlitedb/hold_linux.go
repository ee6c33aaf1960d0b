package sqlitedb

import (
	"errors"
	"io"
	"os"
	"syscall"
)

const (
	// setLock is F_OFD_SETLK: a lock that belongs to the open file and not to the process,
	// so that it stays when another descriptor of the file is closed.
	setLock = 37
	// lockedByte is the byte that is locked. It lies far behind the end of any database and
	// those at 1 GiB that SQLite locks.
	lockedByte = 1 << 62
)

// hold locks the file for as long as it is open.
func hold(file *os.File) error {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockedByte, Len: 1}
	err := syscall.FcntlFlock(file.Fd(), setLock, &lock)
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return errInUse
	case errors.Is(err, syscall.EINVAL): // a kernel that has no such locks: the lock file has to do
		return nil
	}
	return err
}
